import { SealError, sealedKeyId, type SealingKeys } from '../../lib/sealing/sealing-keys.ts'
import { withTransaction, type Connection, type Pool } from '../pool.ts'

/** A row whose secrets are sealed for it, and for no other. */
export interface WebhookContext {
  id: string
  entity: string
}

const batchRows = 100

/** Encrypts a secret for its row. @throws {SealError} if there is no key */
export function sealSecret(keys: SealingKeys, secret: string, { id, entity }: WebhookContext): string {
  return keys.seal(secret, ['webhook', id, entity])
}

/** The secret of a row. @throws {SealError} */
export function openSecret(keys: SealingKeys, sealed: string, { id, entity }: WebhookContext): string {
  return keys.open(sealed, ['webhook', id, entity])
}

/** Encrypts the secrets of earlier keys again, with the current key. @returns the errors of rows that cannot be opened */
export async function resealSecrets(pool: Pool, keys: SealingKeys): Promise<SealError[]> {
  const { earlierIds } = keys
  const errors: SealError[] = []
  if (earlierIds.length === 0) return errors
  const isEarlier = (column: string) => `${sealedKeyId(column)} = ANY ($3)`
  for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
    const { rows } = await pool.query<{ id: string }>(
      `SELECT id FROM training.webhooks WHERE deleted_at IS NULL
         AND (${isEarlier('sealed_secret')} OR ${isEarlier('sealed_old_secret')}) AND id > $1 ORDER BY id LIMIT $2`,
      [after, batchRows, earlierIds],
    )
    for (const { id } of rows) {
      after = id
      await withTransaction(pool, (connection) => resealRow(connection, keys, id)).catch((error: unknown) => {
        if (!(error instanceof SealError)) throw error
        errors.push(error)
      })
    }
    if (rows.length < batchRows) return errors
  }
}

/** Each row is its own transaction. An old secret that cannot be opened is dropped. */
async function resealRow(connection: Connection, keys: SealingKeys, id: string): Promise<void> {
  const { rows } = await connection.query<{ entity: string; secret: string; old: string | null }>(
    `SELECT entity, sealed_secret AS secret,
       CASE WHEN old_secret_until > clock_timestamp() THEN sealed_old_secret END AS old
     FROM training.webhooks WHERE id = $1 AND deleted_at IS NULL FOR UPDATE`,
    [id],
  )
  const [row] = rows
  if (!row) return
  const context = { id, entity: row.entity }
  const reseal = (sealed: string) => sealSecret(keys, openSecret(keys, sealed, context), context)
  await connection.query('UPDATE training.webhooks SET sealed_secret = $2, sealed_old_secret = $3 WHERE id = $1', [
    id,
    reseal(row.secret),
    row.old === null ? null : sealOrDrop(() => reseal(row.old!)),
  ])
}

function sealOrDrop(seal: () => string): string | null {
  try {
    return seal()
  } catch (error) {
    if (error instanceof SealError) return null
    throw error
  }
}
