import { memoryPlan } from './accounts/limits/memory-plan.ts'

/** How long the server waits for its clients, and how many can be connected. */
export const serverSettings = {
  // Clients are told to leave no connection idle for longer than this. An apiserver that ends keeps idle ones for longer
  // (`drainSeconds`), because a POST that meets the end of its connection fails, and clients do not retry it.
  keepAliveTimeout: 10_000,
  // Many clients do not read that. With this, it is longer than they keep an idle connection.
  keepAliveTimeoutBuffer: 80_000,
  // Enough for an upload of the largest body over a slow line.
  requestTimeout: 1_800_000,
  // The headers of a request come at once. A client that sends them slowly only holds a connection.
  headersTimeout: 20_000,
  connectionsCheckingInterval: 5_000,
  maxConnections: memoryPlan.connections.most,
}

/** How many connections without an authenticated request one client may hold. */
export const connectionsPerStranger = memoryPlan.connections.most / 4
