import { aaCheck } from '../diagnostics/aa-check.ts';
import type { DiagnoseOptions } from '../diagnostics/diagnose.ts';
import { addTokens, tokenRatios, tokenSums } from '../diagnostics/token-ratios.ts';
import { behaviourFeatures } from '../policy/behaviour-features.ts';
import type { TokenRatios } from '../schema/token-ratios.ts';
import type { Store } from '../store/store.ts';
import type { Trajectories } from '../trajectories/trajectories.ts';
import type { LogRatios } from '../weights/ratios.ts';
import { scanTokenScores } from '../weights/token-scores.ts';

/** What the diagnostics can use beyond the ratios: state features, and token-level ratios where both are recorded. */
export async function detailsOf(store: Store, ratios: LogRatios): Promise<DiagnoseOptions> {
  const t = ratios.trajectories;
  const states = await behaviourFeatures(store, t);
  const tokens = ratios.table === null ? await tokensOf(store, t, ratios.target) : null;
  return tokens === null ? { states } : { states, tokens };
}

async function tokensOf(store: Store, t: Trajectories, policy: string): Promise<TokenRatios | null> {
  const sums = tokenSums(t);
  for await (const chunk of scanTokenScores(store, t, policy)) addTokens(sums, chunk);
  if (sums.tokens + sums.uncompared === 0) return null;
  const report = tokenRatios(t, sums);
  return madeTheLogs(t, policy) ? { ...report, aa: aaCheck(sums) } : report;
}

/** The target is the behaviour itself, scored again. */
function madeTheLogs(t: Trajectories, policy: string): boolean {
  const { codes, values } = t.episodes.policy;
  return t.index.length > 0 && t.index.every((e) => values[codes[e]!] === policy);
}
