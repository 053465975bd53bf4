package api

import (
	"bytes"
	_ "embed"
	"sync"
)

//go:embed openapi.yaml
var openAPI []byte

// Document returns openapi.yaml.
func Document() []byte { return bytes.Clone(openAPI) }

var loadContract = sync.OnceValues(func() (*contract, error) { return newContract(openAPI) })
