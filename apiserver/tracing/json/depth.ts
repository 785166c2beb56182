/** Values nested deeper than this become null: recursive code, ours and of Postgres and of clients, takes so much and not any depth. */
export const maxDepth = 500
