import { type CreditRun, episodeCredit, runCritic } from '../critic/credit.ts';
import { check } from '../inspect/check.ts';
import { describe } from '../inspect/describe.ts';
import { greatest } from '../math/extremes.ts';
import type { EpisodeCredit, TurnCredit } from '../schema/credit.ts';
import type { CriticConfigInput } from '../schema/critic-config.ts';
import { TurnwiseError } from '../schema/error.ts';
import type { Report } from '../schema/report.ts';
import type { Store } from '../store/store.ts';
import { turnTexts } from '../trajectories/texts.ts';
import { policyComparisons } from './comparisons.ts';
import { turnWords } from './turn-words.ts';

export interface ReportOptions {
  readonly title: string;
  /** Audited targets, each with its exact value where the world is simulated. */
  readonly targets?: Report['targets'];
  readonly critic?: CriticConfigInput;
  readonly onProgress?: (what: string) => void;
}

/** Everything the report shows, as data: the description, the check, the policies paired by task, the critic, the audits. */
export async function buildReport(store: Store, options: ReportOptions): Promise<Report> {
  const { title, targets = [], critic, onProgress } = options;
  onProgress?.('describe');
  const description = await describe(store);
  onProgress?.('check');
  const found = await check(store);
  onProgress?.('compare');
  const comparisons = await policyComparisons(store, description.policies);
  onProgress?.('credit');
  let run: CreditRun | null = null;
  let creditRefused: string | null = null;
  try {
    run = await runCritic(store, {
      critic,
      onProgress: (p) => onProgress?.(`credit: ${p.what} ${p.done} of ${p.of}`),
    });
  } catch (error) {
    if (!(error instanceof TurnwiseError)) throw error;
    creditRefused = error.message;
  }
  return {
    title,
    description,
    check: found,
    comparisons,
    credit: run?.fit.report ?? null,
    creditRefused,
    examples: run ? await examples(store, run) : [],
    targets: [...targets],
  };
}

/** |A| over its error; 0 where the turn is not supported or has no error. */
const clearness = (t: TurnCredit): number =>
  t.supported && t.advantageSe !== null && t.advantageSe > 0 ? Math.abs(t.advantage) / t.advantageSe : 0;

/** A failed and a successful episode that fit a screen: of each half by return, the one in the middle by its clearest turn. */
async function examples(store: Store, run: CreditRun): Promise<Report['examples']> {
  const { t } = run;
  const credits: { e: number; credit: EpisodeCredit; clearest: number }[] = [];
  for (const e of t.index) {
    const turns = t.episodeOffsets[e + 1]! - t.episodeOffsets[e]!;
    if (turns < 2 || turns > 12) continue;
    const credit = episodeCredit(run, e);
    if (credit) credits.push({ e, credit, clearest: greatest(credit.turns.map(clearness)) });
  }
  if (credits.length === 0) return [];
  const sorted = credits.map((c) => c.credit.return).sort((a, b) => a - b);
  const middle = (sorted[0]! + sorted.at(-1)!) / 2;
  const halves = [
    credits.filter((c) => c.credit.return <= middle),
    credits.filter((c) => c.credit.return > middle),
  ];
  const out: Report['examples'] = [];
  for (const half of halves) {
    if (half.length === 0) continue;
    half.sort((a, b) => a.clearest - b.clearest || a.e - b.e);
    const { e, credit } = half[half.length >> 1]!;
    const texts = await turnTexts(store, t.episodes.episode[e]!);
    out.push({ credit, texts: texts.map(turnWords) });
  }
  return out;
}
