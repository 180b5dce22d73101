/** Exit codes of the command. */
export const EXIT = { fine: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** The user called the command wrongly; exit code 2. */
export class UsageError extends Error {}

/** Something in the world failed, and the message says what to do; exit code 1. */
export class CommandError extends Error {}

/** One line for any failure. */
export function oneLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/\s*\n\s*/g, ' ').trim();
}
