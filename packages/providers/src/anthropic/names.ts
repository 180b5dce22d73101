/** The name of a tool in an earlier call: models make names up, and one bad name would make the whole history unacceptable. */
export function toolName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 128) || 'unknown';
}
