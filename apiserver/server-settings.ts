import { memoryPlan } from './accounts/limits/memory-plan.ts'

/** How long the server waits for its clients, and how many can be connected. */
export const serverSettings = {
  // Longer than clients keep an idle connection. Otherwise a POST could meet a connection that is being closed, which
  // clients do not retry.
  keepAliveTimeout: 90_000,
  // Enough for an upload of the largest body over a slow line.
  requestTimeout: 1_800_000,
  // The headers of a request come at once. A client that sends them slowly only holds a connection.
  headersTimeout: 20_000,
  connectionsCheckingInterval: 5_000,
  maxConnections: memoryPlan.connections.most,
}
