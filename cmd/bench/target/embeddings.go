package target

import (
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
)

// Embeddings is an endpoint in this process that returns embeddings without meaning
// at once, so that a measured server does not wait for a model.
type Embeddings struct {
	server *httptest.Server
	dim    int
}

// NewEmbeddings serves vectors of dim numbers.
func NewEmbeddings(dim int) *Embeddings {
	e := &Embeddings{dim: dim}
	e.server = httptest.NewServer(http.HandlerFunc(e.serve))
	return e
}

// Close stops the endpoint.
func (e *Embeddings) Close() { e.server.Close() }

// Settings of a server that uses the endpoint.
func (e *Embeddings) Settings() []string {
	return []string{
		"QWEN_API_KEY=bench", "QWEN_API_BASE=" + e.server.URL,
		"MEMORY_EMBEDDING_MODEL=bench", "HIPPOCAMPUS_EMBEDDING_BATCH=500",
	}
}

// Vector is a unit vector of pseudo-random numbers, seeded by the hash of a text.
func Vector(text string, dim int) []float32 {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(text))
	random := rand.New(rand.NewPCG(hash.Sum64(), 1))
	v := make([]float32, dim)
	sum := 0.0
	for i := range v {
		x := random.NormFloat64()
		v[i] = float32(x)
		sum += x * x
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

func (e *Embeddings) serve(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Input    []string `json:"input"`
		Encoding string   `json:"encoding_format"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	type row struct {
		Object    string `json:"object"`
		Index     int    `json:"index"`
		Embedding any    `json:"embedding"`
	}
	rows := make([]row, len(request.Input))
	for i, text := range request.Input {
		rows[i] = row{"embedding", i, Vector(text, e.dim)}
		if request.Encoding == "base64" {
			rows[i].Embedding = Bytes(rows[i].Embedding.([]float32))
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "model": "bench", "data": rows})
}

// Bytes are the little-endian bytes of a vector.
func Bytes(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}
