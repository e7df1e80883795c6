import { keepCompiled } from './compile-cache.ts'

// The process of a user's connector: `crm/child` starts it with this file.
keepCompiled()
const [{ runConnectorHost }, { openHttpClient }] = await Promise.all([
  import('../crm/child/connector-host.ts'),
  import('../runtime/outgoing.ts'),
])
runConnectorHost(openHttpClient)
