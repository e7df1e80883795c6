/**
 * The version of the mapping. Raise it if any CRM's row becomes a different record than before: snapshots of other
 * versions are not used.
 */
export const RECORDS = 2
