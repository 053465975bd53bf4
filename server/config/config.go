// Package config reads every setting of the server into one value:
//
//	defaults < YAML file < environment < command line -> checked Config
//
// A setting is named by its path in the file, such as recall.limit. The
// environment spells it HIPPOCAMPUS_RECALL_LIMIT; some settings have a second
// name that their users know already (see aliases). An error is one line that
// names the setting, its value, its source and the allowed values.
package config

import "time"

// Config holds every setting. Tags give its name (koanf), its default and its
// rule: LOW..HIGH for a number or a duration, A|B for a choice, else the name of
// an entry of textRules. deploy/hippocampus.example.yaml explains each setting.
// Printing a Config hides its secrets.
type Config struct {
	Listen   string `koanf:"listen" default:"127.0.0.1:8080" rule:"address"`
	Data     string `koanf:"data" default:"data" rule:"folder"`
	Dev      bool   `koanf:"dev" default:"false"` // no authentication
	AdminKey string `koanf:"admin_key" rule:"admin key"`

	Log           Log           `koanf:"log"`
	Database      Database      `koanf:"database"`
	Vectors       string        `koanf:"vectors" default:"auto" rule:"auto|pgvector"`
	Pgvector      Pgvector      `koanf:"pgvector"`
	Milvus        Milvus        `koanf:"milvus"`
	Chat          Chat          `koanf:"chat"`
	Embedding     Embedding     `koanf:"embedding"`
	Gate          Gate          `koanf:"gate"`
	Memories      Memories      `koanf:"memories"`
	Messages      Messages      `koanf:"messages"`
	Secrets       Secrets       `koanf:"secrets"`
	Jobs          Jobs          `koanf:"jobs"`
	Router        Router        `koanf:"router"`
	Rerank        Rerank        `koanf:"rerank"`
	Recall        Recall        `koanf:"recall"`
	Time          Time          `koanf:"time"`
	Projection    Projection    `koanf:"projection"`
	Schedule      Schedule      `koanf:"schedule"`
	Reflection    Reflection    `koanf:"reflection"`
	Forgetting    Forgetting    `koanf:"forgetting"`
	Compression   Compression   `koanf:"compression"`
	Session       Session       `koanf:"session"`
	Consolidation Consolidation `koanf:"consolidation"`
	Webhooks      Webhooks      `koanf:"webhooks"`
	API           API           `koanf:"api"`
	Learning      Learning      `koanf:"learning"`
	Pool          Pool          `koanf:"pool"`
	Quotas        Quotas        `koanf:"quotas"`
	AppQuotas     AppQuotas     // quotas.apps.NAME.users and so on
	Metrics       Metrics       `koanf:"metrics"`
	Proxy         Proxy         `koanf:"proxy"`

	Unread []string // a sentence for each environment variable that looks like a misspelt setting
}

// Proxy sets the proxy between OpenAI clients and a model. Without an upstream, it is off.
type Proxy struct {
	Upstream     string        `koanf:"upstream" rule:"optional url"`
	APIKey       string        `koanf:"api_key" rule:"key"`
	Timeout      time.Duration `koanf:"timeout" default:"300ms" rule:"1ms..1m"`     // of the memory of a request
	MaxTokens    int           `koanf:"max_tokens" default:"1000" rule:"1..100000"` // that are injected
	TrustHeaders bool          `koanf:"trust_headers" default:"false"`              // of front ends
}

// Metrics sets where /metrics and /openapi.yaml are served.
type Metrics struct {
	Listen string `koanf:"listen" rule:"optional address"` // empty: where the API is
}

// Log sets how the server logs.
type Log struct {
	Level  string `koanf:"level" default:"info" rule:"debug|info|warn|error"`
	Format string `koanf:"format" default:"console" rule:"console|json"`
}

// Database selects the record: Postgres if URL is set, else SQLite.
type Database struct {
	URL      string        `koanf:"url" rule:"database"`
	MaxConns int           `koanf:"max_conns" default:"16" rule:"4..1000"`
	Timeout  time.Duration `koanf:"timeout" default:"4s" rule:"100ms..1h"` // of a statement, a lock, an idle transaction
	Migrate  bool          `koanf:"migrate" default:"true"`                // migrate the schema at the start
}

// Pgvector is the vector store if Config.Vectors is pgvector, or if Database.URL is
// set and Milvus.Host is not.
type Pgvector struct {
	Index string `koanf:"index" default:"HNSW" rule:"HNSW|FLAT"` // of a new table
}

// Milvus is the vector store if Host is set.
type Milvus struct {
	Host       string `koanf:"host" rule:"host"`
	Port       int    `koanf:"port" default:"19530" rule:"1..65535"`
	User       string `koanf:"user" rule:"milvus user"` // with Password; at most one of User, Token and APIKey is set
	Password   string `koanf:"password" rule:"text"`
	Token      string `koanf:"token" rule:"key"`
	APIKey     string `koanf:"api_key" rule:"key"` // of Zilliz Cloud
	TLS        TLS    `koanf:"tls"`
	Collection string `koanf:"collection" default:"agent_memories_vectors" rule:"collection"`
	Index      string `koanf:"index" default:"FLAT" rule:"FLAT|HNSW"`   // of a new collection
	Partitions int    `koanf:"partitions" default:"256" rule:"1..1024"` // of a new collection
}

// TLS protects a connection to Milvus.
type TLS struct {
	Enabled    bool   `koanf:"enabled" default:"false"`
	CAFile     string `koanf:"ca_file" rule:"text"`     // PEM; empty: the authorities of the system
	ServerName string `koanf:"server_name" rule:"host"` // empty: Milvus.Host
	CertFile   string `koanf:"cert_file" rule:"text"`   // PEM; of this server, with KeyFile
	KeyFile    string `koanf:"key_file" rule:"text"`
}

// Chat is the language model. Without a key, rules score and route.
type Chat struct {
	APIKey      string        `koanf:"api_key" rule:"key"`
	BaseURL     string        `koanf:"base_url" default:"https://api.deepseek.com/v1" rule:"url"`
	ScorerModel string        `koanf:"scorer_model" default:"deepseek-chat" rule:"model"`
	RouterModel string        `koanf:"router_model" default:"deepseek-chat" rule:"model"`
	Timeout     time.Duration `koanf:"timeout" default:"30s" rule:"100ms..10m"` // of one attempt, or a turn's judgements
	Retries     int           `koanf:"retries" default:"2" rule:"0..10"`        // after the first attempt
	Concurrency int           `koanf:"concurrency" default:"8" rule:"1..1024"`
}

// Embedding is the embedder. Without a key, the built-in one embeds; Ollama needs no key.
type Embedding struct {
	API            string        `koanf:"api" default:"openai" rule:"openai|ollama"`
	APIKey         string        `koanf:"api_key" rule:"key"`
	BaseURL        string        `koanf:"base_url" rule:"optional url"` // empty: see Endpoint
	Model          string        `koanf:"model" default:"text-embedding-v4" rule:"model"`
	Dimension      int           `koanf:"dimension" default:"0" rule:"0..32768"` // 0: probed at start
	QueryPrefix    string        `koanf:"query_prefix" rule:"text"`
	DocumentPrefix string        `koanf:"document_prefix" rule:"text"`
	Timeout        time.Duration `koanf:"timeout" default:"10s" rule:"100ms..10m"` // of one attempt
	Concurrency    int           `koanf:"concurrency" default:"8" rule:"1..1024"`
	Batch          int           `koanf:"batch" default:"10" rule:"1..2048"` // texts in one call
	Previous       Previous      `koanf:"previous"`
}

// The APIs of embedding endpoints.
const (
	OpenAI = "openai" // POST /embeddings
	Ollama = "ollama" // POST /api/embed
)

// Remote reports whether an endpoint embeds, rather than the built-in embedder.
func (e Embedding) Remote() bool { return e.APIKey != "" || e.API == Ollama }

// Endpoint is the base URL, by default that of DashScope, or of Ollama on this host.
func (e Embedding) Endpoint() string {
	switch {
	case e.BaseURL != "":
		return e.BaseURL
	case e.API == Ollama:
		return "http://127.0.0.1:11434"
	}
	return "https://dashscope.aliyuncs.com/compatible-mode/v1"
}

// Previous reaches the embedding model that serves until the memories are
// re-embedded. An empty setting has the value of Embedding.
type Previous struct {
	APIKey         string `koanf:"api_key" rule:"key"`
	BaseURL        string `koanf:"base_url" rule:"optional url"`
	QueryPrefix    string `koanf:"query_prefix" rule:"text"`
	DocumentPrefix string `koanf:"document_prefix" rule:"text"`
}

// Gate decides which candidates become memories.
type Gate struct {
	Threshold float64 `koanf:"threshold" default:"0.7" rule:"0..1"`
	Fallback  bool    `koanf:"fallback" default:"true"`
}

// Memories bounds the memories of a user.
type Memories struct {
	MaxPerUser    int     `koanf:"max_per_user" default:"100000" rule:"0..10000000"` // 0: unlimited
	MinImportance float64 `koanf:"min_importance" default:"0.3" rule:"0..1"`
}

// Messages sets what is kept of the chat messages of a turn, in addition to its facts.
type Messages struct {
	Enabled bool `koanf:"enabled" default:"true"`
	// Messages of this age are forgotten; 0: when they have faded, like all memories.
	Keep time.Duration `koanf:"keep" default:"0s" rule:"0s..876000h"`
	// Characters of an assistant's message that are kept in addition to list items; the default is more than a message can
	// have.
	AnswerChars int `koanf:"answer_chars" default:"100000" rule:"0..100000"`
}

// Secrets are keys, passwords and the like, which are cut out of messages and other texts unless Keep is set.
type Secrets struct {
	Keep bool `koanf:"keep" default:"false"`
}

// Jobs sets how turns and jobs are worked on.
type Jobs struct {
	Workers int           `koanf:"workers" default:"8" rule:"1..1000"`
	Lease   time.Duration `koanf:"lease" default:"10s" rule:"100ms..1h"`  // of a turn; that of a push is 1.5 times as long
	Timeout time.Duration `koanf:"timeout" default:"3m" rule:"100ms..1h"` // of one job
	// The greatest lag: while a turn has been due for longer, new turns are refused; 0: no bound.
	MaxLag time.Duration `koanf:"max_lag" default:"1h" rule:"0s..8760h"`
}

// Router decides which domains a query searches first.
type Router struct {
	Timeout time.Duration `koanf:"timeout" default:"800ms" rule:"1ms..1m"`
}

// Rerank is the reranking model. Without a URL, there is no such model.
type Rerank struct {
	BaseURL    string        `koanf:"base_url" rule:"optional url"`
	APIKey     string        `koanf:"api_key" rule:"key"`
	Model      string        `koanf:"model" default:"rerank" rule:"model"`
	Candidates int           `koanf:"candidates" default:"50" rule:"2..1000"`
	Share      float64       `koanf:"share" default:"0.7" rule:"0..1"`
	Timeout    time.Duration `koanf:"timeout" default:"800ms" rule:"1ms..1m"`
}

// Recall finds and ranks memories.
type Recall struct {
	Limit      int     `koanf:"limit" default:"10" rule:"1..100"`
	Mode       string  `koanf:"mode" default:"modulated" rule:"modulated|additive"`
	Relevance  float64 `koanf:"relevance" default:"0.5" rule:"0..1000"`  // weight alpha
	Decay      float64 `koanf:"decay" default:"0.2" rule:"0..1000"`      // weight beta
	Importance float64 `koanf:"importance" default:"0.3" rule:"0..1000"` // weight gamma
	DecayRate  float64 `koanf:"decay_rate" default:"0.99" rule:"0.0001..1"`
	// Parts of the ranking that are left out, to measure what each contributes.
	Without string `koanf:"without" rule:"ranking parts"`

	CacheBytes   int           `koanf:"cache_bytes" default:"29360128" rule:"0..1099511627776"`
	OwnWindow    time.Duration `koanf:"own_window" default:"10s" rule:"0s..1h"`
	CompareLimit int           `koanf:"compare_limit" default:"200" rule:"0..16384"`
	Timeout      time.Duration `koanf:"timeout" default:"10s" rule:"1ms..10m"` // of a whole recall
	Recollect    bool          `koanf:"recollect" default:"true"`              // search the faded memories if nothing fits
	Log          bool          `koanf:"log" default:"false"`
	LogKeep      time.Duration `koanf:"log_keep" default:"168h" rule:"1h..8760h"`
}

// Projection pushes memories from the database to the vector store.
type Projection struct {
	Grace time.Duration `koanf:"grace" default:"1m" rule:"1s..24h"`
}

// Time sets how times in texts are read.
type Time struct {
	Zone string `koanf:"zone" default:"UTC" rule:"zone"` // of users without one
}

// Schedule sets when maintenance runs: cron expressions in UTC; empty: never.
type Schedule struct {
	Reflection    string        `koanf:"reflection" default:"@every 15m" rule:"schedule"`
	Consolidation string        `koanf:"consolidation" default:"@every 15m" rule:"schedule"`
	Idle          string        `koanf:"idle" default:"@every 5m" rule:"schedule"`
	Facts         string        `koanf:"facts" default:"@every 1h" rule:"schedule"`
	Forgetting    string        `koanf:"forgetting" default:"0 3 * * *" rule:"schedule"`
	Purge         string        `koanf:"purge" default:"30 3 * * *" rule:"schedule"`
	Compression   string        `koanf:"compression" default:"0 4 * * *" rule:"schedule"`
	Episodes      string        `koanf:"episodes" default:"30 4 * * *" rule:"schedule"`
	Evolution     string        `koanf:"evolution" default:"45 4 * * *" rule:"schedule"`
	Verification  string        `koanf:"verification" default:"0 5 * * *" rule:"schedule"`
	Timeout       time.Duration `koanf:"timeout" default:"1h" rule:"1s..24h"` // of one run over all users
}

// Reflection decides when a user's new facts are condensed.
type Reflection struct {
	Importance  float64       `koanf:"importance" default:"4" rule:"0..1000"` // sum over the new facts
	Cooldown    time.Duration `koanf:"cooldown" default:"1h" rule:"0s..8760h"`
	KeepSources bool          `koanf:"keep_sources" default:"false"`
	Apply       string        `koanf:"apply" default:"auto" rule:"auto|propose"`
	Evolve      string        `koanf:"evolve" default:"propose" rule:"off|propose|publish"` // of instructions
}

// Forgetting decides which memories fade.
type Forgetting struct {
	Policy     string        `koanf:"policy" default:"strengthening" rule:"strengthening|exponential"`
	Threshold  float64       `koanf:"threshold" default:"0.1" rule:"0..1"`
	Base       float64       `koanf:"base" default:"0.9" rule:"0.0001..0.9999"`
	Growth     float64       `koanf:"growth" default:"1.5" rule:"1..100"`
	Lambda     float64       `koanf:"lambda" default:"0.1" rule:"0.0001..100"`
	MaxShare   float64       `koanf:"max_share" default:"0.2" rule:"0..1"`
	PurgeAfter time.Duration `koanf:"purge_after" default:"720h" rule:"0s..87600h"`
	Clock      string        `koanf:"clock" default:"active" rule:"active|wall"`      // days of the user, or all
	MaxAbsence time.Duration `koanf:"max_absence" default:"8760h" rule:"0s..876000h"` // after which all days count

	Lasts string `koanf:"lasts" rule:"factors"`

	// What never fades: memories of these types in addition to reflections, of these domains, and memories of the kept
	// types that have at least this importance.
	ExcludeTypes   string  `koanf:"exclude_types" rule:"memory types"`
	ExcludeDomains string  `koanf:"exclude_domains" rule:"domains"`
	KeepTypes      string  `koanf:"keep_types" default:"fact,preference" rule:"memory types"`
	KeepImportance float64 `koanf:"keep_importance" default:"0.83" rule:"0..1"`
}

// Compression condenses old memories.
type Compression struct {
	MaxMemories int `koanf:"max_memories" default:"2000" rule:"3..5000"` // in one run of a user
}

// Session bounds the working memory of a conversation.
type Session struct {
	Events int `koanf:"events" default:"200" rule:"2..10000"`
}

// Consolidation decides when a conversation ends.
type Consolidation struct {
	Idle time.Duration `koanf:"idle" default:"30m" rule:"1s..8760h"`
}

// Webhooks sets how announcements are delivered.
type Webhooks struct {
	AllowPrivate bool `koanf:"allow_private" default:"false"`
}

// Pool sets what the erasure of a contributor, and of a memory that was copied, does to the shared pool of an app.
type Pool struct {
	Erase string `koanf:"erase" default:"erase" rule:"erase|orphan"`
}

// Learning lets the thresholds of each app follow what its users keep, forget and use.
type Learning struct {
	Enabled bool `koanf:"enabled" default:"false"`
}

// Quotas bound what each app keeps, and uses of chat models; 0: unlimited. An
// app named in AppQuotas has the quotas there instead.
type Quotas struct {
	Users    int `koanf:"users" default:"0" rule:"0..1000000000"`          // with active memories
	Memories int `koanf:"memories" default:"0" rule:"0..1000000000"`       // active ones
	Bytes    int `koanf:"bytes" default:"0" rule:"0..1000000000000000"`    // of the contents of memories
	Versions int `koanf:"versions" default:"0" rule:"0..1000000000000000"` // entries of histories, of instructions too
	Webhooks int `koanf:"webhooks" default:"0" rule:"0..20"`               // memory.MaxWebhooks in any case

	ChatTokens int `koanf:"chat_tokens" default:"0" rule:"0..1000000000000000"` // of chat models a day, in UTC
}

// API bounds the requests of clients.
type API struct {
	RateLimit         float64       `koanf:"rate_limit" default:"1000" rule:"0..1000000"`      // a second, each key
	AuthFailures      int           `koanf:"auth_failures" default:"60" rule:"0..1000000"`     // a minute; 0: any
	TrustedProxies    string        `koanf:"trusted_proxies" rule:"addresses"`                 // of X-Forwarded-For
	MaxInflight       int           `koanf:"max_inflight" default:"0" rule:"0..100000"`        // searches; 0: by cores
	MaxInflightTurns  int           `koanf:"max_inflight_turns" default:"0" rule:"0..100000"`  // stored; 0: by cores
	MaxInflightWrites int           `koanf:"max_inflight_writes" default:"0" rule:"0..100000"` // 0: by cores
	WaitTimeout       time.Duration `koanf:"wait_timeout" default:"30s" rule:"1ms..10m"`
	ShutdownTimeout   time.Duration `koanf:"shutdown_timeout" default:"20s" rule:"1ms..10m"`
	CORSOrigins       string        `koanf:"cors_origins" rule:"origins"` // whose pages may call the API
}
