import { runLocally } from './admin.ts'

/** `npm run key -- ENTITY …`: creates a key of an entity and prints it once, or lists, revokes and rotates keys. */
await runLocally('key')
