import { homedir, platform as hostPlatform } from 'node:os';
import { join } from 'node:path';

/** Where models live when nobody says otherwise: `ANTIPHON_MODELS`, else the platform's folder for caches. */
export function defaultCacheDirectory(env: NodeJS.ProcessEnv = process.env, platform: NodeJS.Platform = hostPlatform()): string {
  if (env.ANTIPHON_MODELS) return env.ANTIPHON_MODELS;
  return join(platformCacheDirectory(env, platform), 'antiphon', 'models');
}

function platformCacheDirectory(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  if (platform === 'win32') return env.LOCALAPPDATA || join(homedir(), 'AppData', 'Local');
  if (platform === 'darwin') return join(homedir(), 'Library', 'Caches');
  return env.XDG_CACHE_HOME || join(homedir(), '.cache');
}
