/** In place of the one task of a cell: several. */
export const MANY = -2;
/** Before any turn. */
export const NO_TASK = -1;

/** The task of a cell after a turn of `task`. */
export const taskAfter = (own: number, task: number): number =>
  own === NO_TASK || own === task ? task : MANY;
