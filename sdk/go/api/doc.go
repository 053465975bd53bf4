// Package api is generated from server/api/openapi.yaml: a type for each of its schemas,
// and [Client] with a method for each of its routes. hippocampus.Client.API returns a
// Client that sends the key, repeats requests and returns errors as *hippocampus.Error;
// hippocampus.Decode reads its answers.
package api

//go:generate ../generate
