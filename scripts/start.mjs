// The main job: fetches the speech models, holds one spoken turn with them, then goes on by typing when there is a terminal.
import { antiphon, ensureBuilt, ensureInstalled, run } from './ensure.mjs';

ensureInstalled();
ensureBuilt();
run(process.execPath, antiphon('models', 'pull'), { stdio: ['ignore', 2, 2] });
run(process.execPath, antiphon('selftest', ...process.argv.slice(2)), { stdio: ['ignore', 'inherit', 'inherit'] });
if (process.stdin.isTTY) run(process.execPath, antiphon('chat'));
else console.log('\nTo go on by typing: npx antiphon chat');
