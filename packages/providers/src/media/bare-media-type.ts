/** A media type without its parameters: `Audio/WAV; rate=8000` → `audio/wav`. */
export function bareMediaType(mediaType: string): string {
  return mediaType.split(';', 1)[0]!.trim().toLowerCase();
}
