import { runLocally } from './admin.ts'

/** `npm run queue -- list|pause|resume [ENTITY]`: pauses jobs that wait. */
await runLocally('queue')
