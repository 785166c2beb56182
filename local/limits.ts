import { runLocally } from './admin.ts'

/** `npm run limits -- ENTITY …`: sets the limits of an entity. */
await runLocally('limits')
