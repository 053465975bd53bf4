package api

import (
	"bytes"
	_ "embed"
	"sync"

	"hippocampus/server/frame"
)

//go:embed openapi.yaml
var openAPI []byte

// Document returns openapi.yaml.
func Document() []byte { return bytes.Clone(openAPI) }

var loadContract = sync.OnceValues(func() (*frame.Contract, error) { return frame.NewContract(openAPI) })
