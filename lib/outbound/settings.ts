import { Type } from 'typebox'

/** The variables that limit outgoing requests, for processes that fetch for users. What sends these is in open.ts. */
export const outboundSettings = {
  // The hosts of training data: files.example.com, *.example.com, http://HOST:PORT, s3://BUCKET; separated by commas.
  TRAINYARD_DATA_HOSTS: Type.String({ default: '' }),
  // The hosts of webhooks, in the same form. Default: every https host outside of private networks.
  TRAINYARD_WEBHOOK_HOSTS: Type.String({ default: '*:*' }),
  // Private networks that may be requested, such as 10.0.0.0/8; separated by commas.
  TRAINYARD_PRIVATE_NETWORKS: Type.String({ default: '' }),
  // The most bytes of one data set, uploaded or fetched.
  TRAINYARD_UPLOAD_LIMIT_BYTES: Type.Integer({ minimum: 1024, maximum: 2 ** 40, default: 5 * 1024 ** 3 }),
}
