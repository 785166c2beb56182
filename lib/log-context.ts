import { AsyncLocalStorage } from 'node:async_hooks'

/** Fields that all log lines of some work have, such as the id of its request. */
export const logContext = new AsyncLocalStorage<Record<string, string>>()
