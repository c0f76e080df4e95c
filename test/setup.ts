import { fc } from '@fast-check/vitest';

// The same draws in every run, so that a red test is red again; FC_SEED=$RANDOM looks elsewhere.
fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 20) });
