import { isRecord, type JsonObject, type SpeechFormat, type SpeechSettings } from '@antiphon/engine';
import { refuse } from '../http/call.js';

/** A format as the wire names it, and what it is. */
export interface Output {
  readonly name: string;
  readonly format: SpeechFormat;
  /** Hz */
  readonly sampleRate: number;
}

/** A voice that every account has. */
export const DEFAULT_VOICE = 'JBFqnCBsd6RMkjVDRZzb';

/** Of raw samples. The first is the rate that every provider here has, so that changing one never changes the pitch. */
const SAMPLE_RATES = [24_000, 8_000, 16_000, 22_050, 32_000, 44_100, 48_000] as const;

/** Rates (Hz) of each format with their names on the wire; the first is the default. */
const OUTPUTS: { readonly [F in SpeechFormat]?: ReadonlyArray<readonly [sampleRate: number, name: string]> } = {
  mp3: [
    [44_100, 'mp3_44100_128'],
    [22_050, 'mp3_22050_32'],
    [24_000, 'mp3_24000_48'],
  ],
  opus: [[48_000, 'opus_48000_64']],
  pcm: SAMPLE_RATES.map(rate => [rate, `pcm_${rate}`]),
  wav: SAMPLE_RATES.map(rate => [rate, `wav_${rate}`]),
  ulaw: [[8_000, 'ulaw_8000']],
  alaw: [[8_000, 'alaw_8000']],
};

export const FORMATS = Object.keys(OUTPUTS) as readonly SpeechFormat[];

/** The output that a request asks for. Refused before anything is sent: a rate that the format does not have, a speed out of range. */
export function outputOf(provider: string, { format = 'mp3', sampleRate, speed }: SpeechSettings): Output {
  const outputs = OUTPUTS[format] ?? [];
  const found = sampleRate === undefined ? outputs[0] : outputs.find(([rate]) => rate === sampleRate);
  refuse(provider, [
    outputs.length === 0 && `it cannot give ${format}, only ${FORMATS.join(', ')}`,
    outputs.length > 0 && !found && `it has no ${format} of ${sampleRate} Hz, only of ${outputs.map(([rate]) => rate).join(', ')}`,
    speed !== undefined && (speed < 0.7 || speed > 1.2) && `its speed is 0.7 to 1.2, not ${speed}`,
  ]);
  const [rate, name] = found!;
  return { name, format, sampleRate: rate };
}

/** The settings of the voice, with the speed among them; nothing when there are none. */
export function voiceSettings(own: JsonObject, speed: number | undefined): JsonObject {
  const given = isRecord(own.voice_settings) ? (own.voice_settings as JsonObject) : {};
  const settings = { ...given, ...(speed === undefined ? {} : { speed }) };
  return Object.keys(settings).length === 0 ? {} : { voice_settings: settings };
}
