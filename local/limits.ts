import { runLocally } from './admin.ts'

/** `npm run limits -- ENTITY …`: what an entity may use. */
await runLocally('limits')
