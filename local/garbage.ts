import { runLocally } from './admin.ts'

/** `npm run garbage -- list|keep|release|claim`: the objects in the artifact store that no row points at. */
await runLocally('garbage')
