import { type CreditRun, episodeCredit, episodeCredits, findEpisode, runCritic } from '../critic/credit.ts';
import { isLoud } from '../critic/marks.ts';
import { saveTurnValues } from '../critic/save-values.ts';
import { isSimulated } from '../inspect/simulated.ts';
import type { EpisodeCredit } from '../schema/credit.ts';
import { ENDINGS } from '../schema/episode.ts';
import { failure } from '../schema/error.ts';
import type { Store } from '../store/store.ts';
import { turnTexts } from '../trajectories/texts.ts';
import { number, text, whole } from './arguments.ts';
import { type Command, type Io, jsonOption, seedOption, storeOptions, type Values } from './command.ts';
import { creditText, episodeText } from './credit-text.ts';
import { openGiven } from './open-store.ts';
import { simulatedText } from './simulated-text.ts';

export const creditCommand: Command = {
  name: 'credit',
  summary: 'turn-level critic: which turn helped, which hurt',
  options: {
    ...storeOptions,
    episode: { type: 'string', value: 'ID', help: 'one episode, turn by turn' },
    policy: { type: 'string', value: 'NAME', help: 'only the episodes of this policy', multiple: true },
    folds: { type: 'string', value: 'N', default: '5', help: 'folds of whole tasks, for cross-fitting' },
    lambda: {
      type: 'string',
      value: 'L',
      default: 'auto',
      help: "ridge penalty of (X'X + λP)β = X'y on scaled features, or auto",
    },
    ngrams: { type: 'string', value: 'N', help: 'columns for hashed n-grams of the texts; 0: none' },
    placebos: { type: 'string', value: 'N', default: '20', help: 'runs with shuffled outcomes' },
    seed: seedOption,
    save: {
      type: 'boolean',
      help: 'keep the turn values in the store, labelled ridge, in place of those so labelled',
    },
    'save-as': {
      type: 'string',
      value: 'NAME',
      help: 'keep them under this label instead; it changes no method',
    },
    json: jsonOption,
  },
  renamed: { critic: 'save-as' },
  examples: [
    'turnwise credit --store runs.duckdb',
    'turnwise credit --store runs.duckdb --episode run-17',
    'turnwise credit --store runs.duckdb --save --json > credit.json',
  ],
  async run(values, _positionals, io) {
    const label = text(values, 'save-as');
    if (label === '')
      throw failure({ subject: '--save-as', wrong: 'is empty', expected: 'a label', exitCode: 2 });
    const save = values.save === true || label !== undefined;
    const critic = {
      folds: whole(values, 'folds', 2, 50)!,
      seed: whole(values, 'seed', Number.MIN_SAFE_INTEGER)!,
      lambda: lambdaOf(values),
      placebos: whole(values, 'placebos', 1, 1000)!,
    };
    const id = text(values, 'episode');
    const policies = values.policy as readonly string[] | undefined;
    const store = await openGiven(values, save ? 'write' : 'read');
    try {
      const run = await runCritic(store, {
        critic,
        policies,
        ngrams: whole(values, 'ngrams'),
        onStart: (t) => {
          // Before the work: a mistyped id costs no wait.
          if (id !== undefined) findEpisode(t, id);
        },
        onProgress: ({ what, done, of }) => io.progress(`critic: ${what}, ${done} of ${of}`),
      });
      const chosen = id === undefined ? null : { row: findEpisode(run.t, id), credit: valued(run, id) };
      if (values.json) printJson(io, run, chosen?.credit ?? null);
      else if (chosen) await printEpisode(io, store, run, chosen.row, chosen.credit);
      else io.out(creditText(run.fit.report));
      if (save) {
        const kept = await saveTurnValues(store, run, label);
        io.err(`${kept} turn values kept as "${label ?? run.fit.report.critic.name}"\n`);
      }
      if (!values.json)
        for (const w of run.fit.report.warnings)
          if (!isLoud(w) && !isSimulated(w)) io.err(`warning: ${w.message}\n`);
      return 0;
    } finally {
      store.close();
    }
  },
};

function lambdaOf(values: Values): 'auto' | number {
  if (text(values, 'lambda') === 'auto') return 'auto';
  const lambda = number(values, 'lambda', 'a number of at least 0, or auto')!;
  if (lambda < 0)
    throw failure({
      subject: '--lambda',
      wrong: 'is out of range',
      got: lambda,
      expected: 'a number of at least 0, or auto',
      exitCode: 2,
    });
  return lambda;
}

function valued(run: CreditRun, id: string): EpisodeCredit {
  const row = findEpisode(run.t, id);
  const found = episodeCredit(run, row);
  if (found) return found;
  throw failure({
    subject: `episode "${id}"`,
    wrong: 'was left out of the critic',
    got: `ending ${ENDINGS[run.t.episodes.ending[row]!]}`,
    expected: 'a terminated or limit episode with a reward and at least one turn',
  });
}

async function printEpisode(
  io: Io,
  store: Store,
  run: CreditRun,
  row: number,
  episode: EpisodeCredit,
): Promise<void> {
  const texts = await turnTexts(store, run.t.episodes.episode[row]!);
  io.out(simulatedText(run.fit.report.warnings));
  io.out(episodeText(run.fit.report, episode, texts, ENDINGS[run.t.episodes.ending[row]!]!));
}

/** Episodes one by one: the whole text of a large store does not fit into one string. */
function printJson(io: Io, run: CreditRun, only: EpisodeCredit | null): void {
  const head = JSON.stringify(run.fit.report, null, 2);
  io.out(`${head.slice(0, head.lastIndexOf('\n}'))},\n  "episodes": [`);
  let separator = '\n';
  for (const episode of only ? [only] : episodeCredits(run)) {
    io.out(`${separator}    ${JSON.stringify(episode)}`);
    separator = ',\n';
  }
  io.out('\n  ]\n}\n');
}
