import type { Estimator } from './estimator.ts';
import { is } from './is.ts';
import { pdis } from './pdis.ts';
import { wis } from './wis.ts';
import { wpdisAlive } from './wpdis-alive.ts';
import { wpdisAliveMeanOverN } from './wpdis-alive-mean-over-n.ts';
import { wpdisCarried } from './wpdis-carried.ts';

/** The importance-sampling family, in the order it is printed. */
export const estimators: readonly Estimator[] = [
  is,
  wis,
  pdis,
  wpdisCarried,
  wpdisAlive,
  wpdisAliveMeanOverN,
];
