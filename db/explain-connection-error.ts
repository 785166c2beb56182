const unknownAuthority =
  'The certificate of Postgres is not signed by the authority in sslrootcert. Put the certificate of its authority there (database.caSecretName of the chart), and start this process again.'

const sentences: Record<string, string> = {
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  CERT_SIGNATURE_FAILURE: unknownAuthority,
  CERT_HAS_EXPIRED: 'The certificate of Postgres has expired. Renew it on the server.',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'The certificate of Postgres is for another host name. Use a name of the certificate in the address of the database.',
  '28P01': 'Postgres rejects the user or the password in the address of the database. Correct the address.',
  '53300': 'Postgres has no connection left. Raise max_connections, or lower database.connections of the chart.',
}

/** What to do about an error of connecting to Postgres. Undefined for errors that need no explanation. */
export function explainConnectionError(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (error.message === 'The server does not support SSL connections') {
    return 'The address of the database demands TLS (sslmode), and Postgres does not offer it. Set ssl = on in Postgres.'
  }
  return sentences[(error as { code?: string }).code ?? '']
}
