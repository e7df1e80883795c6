/**
 * The version of the records. Raise it if any CRM's row becomes a different record than before, or is packed otherwise:
 * snapshots of other versions are not used.
 */
export const RECORDS = 3
