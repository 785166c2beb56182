import { runLocally } from './admin.ts'

/** `npm run garbage -- list|keep|release|claim`: unreferenced objects of the artifact store. */
await runLocally('garbage')
