import type { Warning } from '@antiphon/engine';

/** Something that was asked for and not done. */
export function unsupportedSetting(setting: string, message: string): Warning {
  return { code: 'unsupported_setting', setting, message };
}

/** A field of the request that the caller's own replaced. */
export function replaced(field: string): Warning {
  return { code: 'other', setting: field, message: `providerOptions replace the field "${field}" of the request.` };
}

/** Adds a warning, unless the same words stand there already: a thread may hold a hundred pictures. */
export function warnOnce(warnings: Warning[], code: Warning['code'], message: string): void {
  if (!warnings.some(warning => warning.message === message)) warnings.push({ code, message });
}
