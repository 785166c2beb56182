import { AsyncLocalStorage } from 'node:async_hooks'

/** Fields that every line of the log has which is written while something is done, such as the id of its request. */
export const logContext = new AsyncLocalStorage<Record<string, string>>()
