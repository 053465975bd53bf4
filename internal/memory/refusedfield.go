package memory

// RefusedField is a field of a chat request that a model of an endpoint refuses.
type RefusedField struct {
	Endpoint string // scheme, host and path of its base URL, without a user or a key
	Model    string
	Field    string // as package llm names it
}
