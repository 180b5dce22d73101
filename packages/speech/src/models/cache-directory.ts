import { homedir, platform as hostPlatform } from 'node:os';
import { join } from 'node:path';

/** Without the types of Node, so that whoever uses this package needs none. */
type Environment = Readonly<Record<string, string | undefined>>;

/** Where models live when nobody says otherwise: `ANTIPHON_MODELS`, else the platform's folder for caches. */
export function defaultCacheDirectory(env: Environment = process.env, platform: string = hostPlatform()): string {
  if (env.ANTIPHON_MODELS) return env.ANTIPHON_MODELS;
  return join(platformCacheDirectory(env, platform), 'antiphon', 'models');
}

function platformCacheDirectory(env: Environment, platform: string): string {
  if (platform === 'win32') return env.LOCALAPPDATA || join(homedir(), 'AppData', 'Local');
  if (platform === 'darwin') return join(homedir(), 'Library', 'Caches');
  return env.XDG_CACHE_HOME || join(homedir(), '.cache');
}
