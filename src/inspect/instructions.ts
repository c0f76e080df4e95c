/*
 * Whether one task id stands for one task. tau-bench numbers the tasks of each domain from 0, so that two
 * domains in one store share their ids, and pairs of such a "task" would be pairs of two.
 *
 * What a task asks for is its instruction where the log has it fenced off: another one is another task. Else
 * what came in before the first action. That may differ between trials of one task (a time stamp, a user
 * who is simulated), so it counts only where it is alike within each file and policy, and where less than half
 * of the words of two of them are shared.
 */
import type { ColumnData } from '../store/batch.ts';
import { type Parameters, scan } from '../store/query.ts';
import type { Store } from '../store/store.ts';

/** Texts that share a smaller part of their words are different. */
const ALIKE = 0.5;
/** Of each end of an opening so much is looked at: prompts begin alike and end with what is asked. */
const END = 2_000;

const GROUP = "e.source || ':' || coalesce(e.policy, '')";
const SQL = (where: string): string => `
  SELECT e.task_id AS task, ${GROUP} AS grp,
    (SELECT any_value(j.atom ->> '$') FROM json_tree(e.fenced) j
      WHERE j.type = 'VARCHAR' AND (lower(j.key) = 'instruction' OR lower(j.key) LIKE '%.instruction')) AS instruction,
    CASE WHEN k.groups > 1 THEN left(t.opening, ${END}) || ' ' || right(t.opening, ${END}) END AS opening
  FROM episodes e JOIN (SELECT e.task_id AS task_id, count(DISTINCT ${GROUP}) AS groups FROM episodes e
      WHERE ${where} GROUP BY e.task_id HAVING count(*) > 1) k ON k.task_id = e.task_id
    LEFT JOIN (SELECT episode, arg_min(observation, turn) AS opening FROM turns GROUP BY episode) t ON t.episode = e.episode
  WHERE ${where} ORDER BY e.task_id, e.episode`;

/**
 * Ids that stand for more than one task among the episodes e that `where` keeps, as far as the log tells. One
 * scan in the order of tasks; what is held is one task's openings, one a file and policy, and the ids found.
 */
export async function ambiguousTasks(
  store: Store,
  where = "e.ending <> 'aborted'",
  parameters?: Parameters,
): Promise<string[]> {
  const found: string[] = [];
  let task: string | null = null;
  let seen = opened();
  const end = (): void => {
    if (task !== null && isAmbiguous(seen)) found.push(task);
  };
  for await (const { rows, columns } of scan(store, SQL(where), parameters)) {
    const text = (name: string) => (columns[name] as Extract<ColumnData, { kind: 'text' }>).values;
    const [tasks, groups] = [text('task'), text('grp')];
    const [instructions, openings] = [text('instruction'), text('opening')];
    for (let i = 0; i < rows; i++) {
      if (tasks[i] !== task) {
        end();
        task = tasks[i]!;
        seen = opened();
      }
      const instruction = instructions[i];
      if (instruction != null) seen.instructions.add(instruction.trim());
      else if (openings[i] != null) takeUp(seen, groups[i]!, openings[i]!);
    }
  }
  end();
  return found;
}

interface Seen {
  readonly instructions: Set<string>;
  /** First opening of each file and policy. */
  readonly openings: Map<string, { readonly text: string; readonly words: ReadonlySet<string> }>;
  /** Whether trials of one file and policy open differently: then openings say nothing. */
  varies: boolean;
}

const opened = (): Seen => ({ instructions: new Set(), openings: new Map(), varies: false });

function takeUp(seen: Seen, group: string, text: string): void {
  if (seen.varies) return;
  const first = seen.openings.get(group);
  if (first === undefined) seen.openings.set(group, { text, words: wordsOf(text) });
  else if (first.text !== text && shared(first.words, wordsOf(text)) < ALIKE) seen.varies = true;
}

function isAmbiguous({ instructions, openings, varies }: Seen): boolean {
  if (instructions.size > 1) return true;
  if (varies) return false;
  const [first, ...others] = openings.values();
  return others.some((o) => o.text !== first!.text && shared(first!.words, o.words) < ALIKE);
}

/** Words without their digits, which time stamps and ids are made of. */
const wordsOf = (text: string): Set<string> =>
  new Set(
    text
      .toLowerCase()
      .replace(/\d+/g, ' ')
      .match(/[\p{L}_]+/gu) ?? [],
  );

/** |a ∩ b| / |a ∪ b|; texts without words are alike. */
function shared(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let both = 0;
  for (const word of a) if (b.has(word)) both++;
  const all = a.size + b.size - both;
  return all === 0 ? 1 : both / all;
}
