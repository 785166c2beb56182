import { isSealed, SealError, sealedKeyId, type SealingKeys } from '../../lib/sealing/sealing-keys.ts'
import { withTransaction, type Connection, type Pool } from '../pool.ts'

/** A row whose secrets are sealed for it, and for no other. */
export interface WebhookPlace {
  id: string
  entity: string
}

/** The current secret as stored. A process of an earlier version may have written it as plain text: then that is newer. */
export const storedSecret = (alias: string) =>
  `CASE WHEN ${alias}.secret <> '' THEN ${alias}.secret ELSE ${alias}.sealed_secret END`

/** The one before as stored. An earlier version that rotates a sealed secret has nothing to move: it stays in its column. */
export const storedOldSecret = (alias: string) =>
  `CASE WHEN ${alias}.old_secret <> '' THEN ${alias}.old_secret WHEN ${alias}.secret <> '' THEN ${alias}.sealed_secret
     ELSE ${alias}.sealed_old_secret END`

const toSeal = "(secret <> '' OR old_secret <> '' OR (deleted_at IS NOT NULL AND sealed_secret IS NOT NULL))"
const batchRows = 100

/** Encrypts a secret for its row. @throws {SealError} if there is no key */
export function sealSecret(keys: SealingKeys, secret: string, { id, entity }: WebhookPlace): string {
  return keys.seal(secret, ['webhook', id, entity])
}

/** The secret of a row, whether it is encrypted or of an earlier version. @throws {SealError} */
export function openSecret(keys: SealingKeys, stored: string | null, { id, entity }: WebhookPlace): string {
  if (stored === null || stored === '') throw new SealError('an earlier version of this server has lost it')
  return isSealed(stored) ? keys.open(stored, ['webhook', id, entity]) : stored
}

/** Encrypts the secrets that an earlier version has stored as plain text. Each row is its own transaction. */
export async function sealPlainSecrets(pool: Pool, keys: SealingKeys): Promise<void> {
  if (keys.canSeal) await sealRows(pool, keys, toSeal, [])
}

/** Encrypts the secrets of earlier keys again, with the current key. @returns the errors of rows that cannot be opened */
export async function resealSecrets(pool: Pool, keys: SealingKeys): Promise<SealError[]> {
  const { earlierIds } = keys
  if (earlierIds.length === 0) return []
  const isEarlier = (column: string) => `${sealedKeyId(column)} = ANY ($3)`
  const condition = `deleted_at IS NULL AND (${isEarlier('sealed_secret')} OR ${isEarlier('sealed_old_secret')})`
  return sealRows(pool, keys, condition, [earlierIds])
}

async function sealRows(pool: Pool, keys: SealingKeys, condition: string, parameters: unknown[]): Promise<SealError[]> {
  const errors: SealError[] = []
  for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
    const { rows } = await pool.query<{ id: string }>(
      `SELECT id FROM training.webhooks WHERE ${condition} AND id > $1 ORDER BY id LIMIT $2`,
      [after, batchRows, ...parameters],
    )
    for (const { id } of rows) {
      after = id
      await withTransaction(pool, (connection) => sealRow(connection, keys, id)).catch((error: unknown) => {
        if (!(error instanceof SealError)) throw error
        errors.push(error)
      })
    }
    if (rows.length < batchRows) return errors
  }
}

/** Of a deleted webhook no secret stays. An old secret that cannot be opened is dropped. */
async function sealRow(connection: Connection, keys: SealingKeys, id: string): Promise<void> {
  const { rows } = await connection.query<{ entity: string; secret: string | null; old: string | null }>(
    `SELECT w.entity, ${storedSecret('w')} AS secret,
       CASE WHEN w.old_secret_until > clock_timestamp() THEN ${storedOldSecret('w')} END AS old
     FROM training.webhooks w WHERE w.id = $1 AND w.deleted_at IS NULL FOR UPDATE`,
    [id],
  )
  const [row] = rows
  const place = row && { id, entity: row.entity }
  const seal = (stored: string) => sealSecret(keys, openSecret(keys, stored, place!), place!)
  const secret = row ? seal(row.secret ?? '') : null
  await connection.query(
    `UPDATE training.webhooks SET secret = '', old_secret = NULL, sealed_secret = $2, sealed_old_secret = $3 WHERE id = $1`,
    [id, secret, row?.old ? sealOrDrop(() => seal(row.old!)) : null],
  )
}

function sealOrDrop(seal: () => string): string | null {
  try {
    return seal()
  } catch (error) {
    if (error instanceof SealError) return null
    throw error
  }
}
