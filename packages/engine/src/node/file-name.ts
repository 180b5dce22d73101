import { nodeModules } from './modules.js';

/** Names that some systems keep for devices. */
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)$/;
const MAX_LENGTH = 120;

/**
 * The name of the file of a session or a stream, without its ending: safe in every folder, and different for different ids also where case
 * does not count. Everything but small letters, digits, `-` and `_` is percent-encoded; what would be too long, or a device, becomes `~` and a
 * hash.
 */
export async function fileNameOf(id: string): Promise<string> {
  const lone = /\p{Surrogate}/u.test(id);
  const name = lone ? '' : Array.from(new TextEncoder().encode(id), byteName).join('');
  if (!lone && name.length <= MAX_LENGTH && !DEVICE.test(name)) return name;
  const { createHash } = await nodeModules();
  return `~${createHash('sha256').update(id, 'utf16le').digest('hex')}`;
}

/** The id that a name stands for; undefined for a hash, whose file knows it. */
export function idOfFileName(name: string): string | undefined {
  return name.startsWith('~') ? undefined : decodeURIComponent(name);
}

function byteName(byte: number): string {
  const char = String.fromCharCode(byte);
  return /[a-z0-9_-]/.test(char) ? char : `%${byte.toString(16).padStart(2, '0')}`;
}
