/* Damaged stores and logs of changes: refused, or read right; never a wrong number in silence. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crashed, type Lab, type Outcome, type Tally, tally } from './lab.ts';
import type { Logs } from './logs.ts';
import type { Answer, Sums } from './sums.ts';

export async function damagedStores(lab: Lab, logs: Logs, sums: Sums): Promise<Tally[]> {
  const bytes = readFileSync(logs.store);
  const right = await looked(lab, sums, logs.store);
  const rightByCommand = await looked(lab, sums, logs.store, true);
  if (right.code !== 0 || rightByCommand.code !== 0) throw new Error(right.text);
  /** Both `describe --json` and every row are as before, or both are refused, or one of them. */
  const judged = async (
    store: string,
    k: number,
  ): Promise<{ outcome: Outcome; saw?: string | undefined }> => {
    const byCommand = k % 10 === 9;
    const now = await looked(lab, sums, store, byCommand);
    const as = byCommand ? rightByCommand : right;
    if (now.fault) return { outcome: now.fault, saw: now.text };
    const isRight = (now.code !== 0 || now.text === as.text) && (!now.sums || now.sums === as.sums);
    if (!isRight) return { outcome: 'wrong', saw: now.text.slice(0, 200) };
    if (now.code === 0 && now.sums !== undefined) return { outcome: 'held' };
    return {
      outcome: 'refused',
      saw: /is damaged|is empty|not a DuckDB|not a Turnwise|another version/.exec(now.text)?.[0] ?? now.text,
    };
  };
  const cut = lab.of(100);
  const flips = lab.of(200);
  const heads = Math.round(flips * 0.4);
  return [
    await tally('store cut short', cut, async (k) => {
      const store = join(lab.folder(), 's.duckdb');
      copyFileSync(logs.store, store);
      truncateSync(store, Math.floor((bytes.length * k) / cut));
      return judged(store, k);
    }),
    await tally('store, one bit flipped', flips, async (k) => {
      // Two fifths of the places in the three headers, the rest over the whole file.
      const place = k < heads ? (12_288 * (k + 0.5)) / heads : (bytes.length * (k - heads)) / (flips - heads);
      const store = join(lab.folder(), 's.duckdb');
      const damaged = Buffer.from(bytes);
      damaged[Math.floor(place)]! ^= 1 << (k % 8);
      writeFileSync(store, damaged);
      return judged(store, k);
    }),
  ];
}

/** Every row and `describe` by a process that reads one store after another; every tenth by the command line too. */
async function looked(lab: Lab, sums: Sums, store: string, byCommand = false) {
  const found: Answer = await sums.of('store', store);
  const told = found.crashed ?? found.refused ?? found.described!;
  const fault: Outcome | undefined = found.hung ? 'hung' : found.crashed ? 'crashed' : undefined;
  const said = {
    code: found.sums === undefined ? 1 : 0,
    text: told.replaceAll(store, 'STORE'),
    sums: found.sums,
    fault,
  };
  if (!byCommand || fault) return said;
  const done = await lab.turnwise(['describe', '--store', store, '--json'], { cwd: lab.base });
  if (done.hung) return { ...said, fault: 'hung' as const };
  if (crashed(done)) return { ...said, fault: 'crashed' as const, text: done.err };
  return {
    ...said,
    code: done.code,
    text: (done.code === 0 ? done.out : done.err).replaceAll(store, 'STORE'),
  };
}

/** A store whose writer was killed after it had committed: the last changes lie in the log beside it. */
export async function logsOfChanges(lab: Lab, logs: Logs, sums: Sums): Promise<Tally[]> {
  const folder = lab.folder();
  logs.into(folder);
  const made = (name: string) => {
    const store = join(folder, name);
    const child = fileURLToPath(new URL('./killed-writer.ts', import.meta.url));
    const paths = logs.files.map((f) => join(folder, f));
    const { stderr } = spawnSync(process.execPath, ['--import', 'tsx', child, store, ...paths], {
      encoding: 'utf8',
    });
    if (!existsSync(`${store}.wal`)) throw new Error(`no log of changes was left: ${stderr}`);
    return store;
  };
  const [one, two] = [made('one.duckdb'), made('two.duckdb')];
  const log = readFileSync(`${one}.wal`);
  const left = (store: Buffer, wal: Buffer) => {
    const path = join(lab.folder(), 's.duckdb');
    copyFileSync(one, path);
    writeFileSync(path, store);
    writeFileSync(`${path}.wal`, wal);
    return path;
  };
  const bytes = readFileSync(one);
  /** The commits up to some point, all of them whole; then written to again. */
  const judged = async (path: string): Promise<{ outcome: Outcome; saw?: string | undefined }> => {
    const found = await sums.of('store', path);
    if (found.hung) return { outcome: 'hung' };
    if (found.crashed) return { outcome: 'crashed', saw: found.crashed };
    if (found.refused) return { outcome: 'refused' };
    const n = logs.prefixes.indexOf(found.sums!);
    if (n < 0 && !/^\w+ 0 0(; \w+ 0 0)*$/.test(found.sums!))
      return { outcome: 'wrong', saw: 'no whole commits' };
    return { outcome: 'held', saw: `${Math.max(0, n)} files` };
  };
  const places = lab.of(100);
  return [
    await tally('.wal left behind, whole', lab.of(10), async () => {
      const path = left(bytes, log);
      const found = await judged(path);
      const done = await lab.turnwise(['ingest', ...logs.files, '--store', path], { cwd: folder });
      const then = await sums.of('store', path);
      if (done.code !== 0 || then.sums !== logs.prefixes.at(-1) || found.saw !== '3 files')
        return { outcome: 'wrong', saw: `${found.saw} ${done.err}` };
      return found;
    }),
    await tally('.wal cut short', places, (k) =>
      judged(left(bytes, log.subarray(0, (log.length * k) / places))),
    ),
    await tally('.wal, one bit flipped', places, (k) => {
      const damaged = Buffer.from(log);
      const place = k < places / 2 ? k : (log.length * k) / places;
      damaged[Math.floor(place)]! ^= 1 << (k % 8);
      return judged(left(bytes, damaged));
    }),
    await tally('.wal of another store', 2, async (k) => {
      const path = left(bytes, k === 0 ? readFileSync(`${two}.wal`) : Buffer.from('the user wrote this'));
      const found = await sums.of('store', path);
      return { outcome: found.refused ? 'refused' : 'wrong', saw: found.refused?.replace(/.*\.duckdb/, '') };
    }),
    await tally('.wal without its store', 1, async () => {
      const at = lab.folder();
      logs.into(at);
      writeFileSync(join(at, 'n.duckdb.wal'), log);
      const done = await lab.turnwise(['ingest', 'f0.jsonl', '--store', 'n.duckdb'], { cwd: at });
      const kept = readFileSync(join(at, 'n.duckdb.wal')).equals(log) && !existsSync(join(at, 'n.duckdb'));
      return {
        outcome: done.code === 1 && kept && !crashed(done) ? 'refused' : 'wrong',
        saw: done.err.slice(0, 120),
      };
    }),
    await tally('store by a link, its .wal beside the file', 1, async () => {
      const path = left(bytes, log);
      symlinkSync(path, `${path}.link`);
      const found = await judged(`${path}.link`);
      return found.saw === '3 files' ? found : { outcome: 'wrong', saw: found.saw };
    }),
  ];
}
