import { runLocally } from './admin.ts'

/** `npm run garbage -- list|keep|release|claim`: what nothing points at in the artifact store. */
await runLocally('garbage')
