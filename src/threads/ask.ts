import type { Worker } from 'node:worker_threads';
import { errorOf, type Failed } from './failed.ts';

/** What a thread answers: what it was asked for, or the error that stopped it. */
export type Answer<T> = { readonly done: T } | { readonly failed: Failed };

/** Sends an order and waits for its answer; one order at a time. Rejects where the thread fails or ends. */
export function ask<T>(worker: Worker, order: unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      worker.off('message', onMessage);
      worker.off('error', onError);
      worker.off('exit', onExit);
    };
    const onMessage = (message: Answer<T>) => {
      settle();
      if ('failed' in message) reject(errorOf(message.failed));
      else resolve(message.done);
    };
    const onError = (error: unknown) => {
      settle();
      reject(error);
    };
    const onExit = () => onError(new Error('the thread ended before it answered'));
    worker.on('message', onMessage);
    worker.on('error', onError);
    worker.on('exit', onExit);
    worker.postMessage(order);
  });
}
