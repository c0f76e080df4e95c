/* Ingests files and ends without closing the store, as one that is killed between two files. */
import { ingest } from '../../src/ingest/ingest.ts';
import { openStore } from '../../src/store/store.ts';

const [path, ...files] = process.argv.slice(2);
const store = await openStore(path!, { mode: 'create', threads: 1 });
await ingest(store, files);
process.kill(process.pid, 'SIGKILL');
