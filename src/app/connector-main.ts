import { runConnectorHost } from '../crm/child/connector-host.ts'
import { openHttpClient } from '../runtime/outgoing.ts'

// The process of a user's connector: `crm/child` starts it with this file.
runConnectorHost(openHttpClient)
