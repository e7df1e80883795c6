/** Raised where a row of any CRM becomes another record than before: what earlier releases kept of their records is not used then. */
export const RECORDS = 2
