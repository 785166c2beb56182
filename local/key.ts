import { runLocally } from './admin.ts'

/** `npm run key -- ENTITY …`: makes a key of an entity and prints it, this one time; or lists, revokes, rotates keys. */
await runLocally('key')
