// The log group under which the operator's own clients are listed by a database, as those of the Go operator are.
export const operatorLogGroup = "fdb-kubernetes-operator";
