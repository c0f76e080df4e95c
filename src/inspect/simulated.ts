import type { Warning } from '../schema/warning.ts';
import { queryRows } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { countedWords as counted, countWords } from '../weights/words.ts';

/** `meta.simulated` of these says that an episode is real; "true", "yes" and "1" that it is simulated, of no named world. */
const REAL = ['', 'false', 'no', '0'];
const UNNAMED = ['true', 'yes', '1'];
const NAMED = 3;

const quotedAll = (words: readonly string[]): string => words.map((w) => `'${w}'`).join(', ');

/**
 * Says that episodes come from a simulator, where their records do: `meta.simulated` holds the name of the world, or
 * true. Nothing for logs without it, so real logs need no field. Cost: a search in `meta`, O(its bytes).
 */
export async function simulatedWarnings(store: Store): Promise<Warning[]> {
  const [row] = await queryRows(
    store,
    `WITH said AS (
       SELECT trim(json_extract_string(meta, '$.simulated')) AS world FROM episodes
       WHERE contains(meta::VARCHAR, '"simulated"')
         AND json_type(meta, '$.simulated') NOT IN ('NULL', 'OBJECT', 'ARRAY')
     ), simulated AS (SELECT world FROM said WHERE lower(world) NOT IN (${quotedAll(REAL)}))
     SELECT (SELECT count(*) FROM episodes) AS episodes, (SELECT count(*) FROM simulated) AS n,
       (SELECT list(DISTINCT world ORDER BY world) FROM simulated WHERE lower(world) NOT IN (${quotedAll(UNNAMED)})) AS worlds`,
  );
  const n = row!.n as number;
  if (n === 0) return [];
  const of = row!.episodes as number;
  const worlds = (row!.worlds as string[] | null) ?? [];
  const share = n === of ? `all ${counted(n, 'episode')}` : `${countWords(n)} of ${counted(of, 'episode')}`;
  const where =
    worlds.length === 0 ? 'a simulator' : `the ${worlds.length === 1 ? 'world' : 'worlds'} ${names(worlds)}`;
  return [
    {
      code: 'simulated',
      message: `simulated data: ${share} ${n === 1 ? 'comes' : 'come'} from ${where}`,
      count: n,
    },
  ];
}

const names = (worlds: readonly string[]): string =>
  worlds.slice(0, NAMED).join(', ') + (worlds.length > NAMED ? ` and ${worlds.length - NAMED} more` : '');

export const isSimulated = ({ code }: { readonly code?: string }): boolean => code === 'simulated';
