// Named by module.yaml; it is not run.
export const api = 1
