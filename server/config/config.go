// Package config is every setting of the server in one value:
//
//	defaults < YAML file < environment < command line -> checked Config
//
// A setting is named by its path in the file, such as recall.limit. The
// environment spells it HIPPOCAMPUS_RECALL_LIMIT; some settings have a second
// name that their users know already (see Aliases). Errors are one line that
// names the setting, its value, where it was given and what is allowed.
package config

import "time"

// Config holds every setting. deploy/hippocampus.example.yaml explains each one.
// Printing a Config hides its secrets.
type Config struct {
	Listen   string `koanf:"listen"`    // HOST:PORT; port 0: any free one
	Data     string `koanf:"data"`      // SQLite's folder, relative to the working directory
	Dev      bool   `koanf:"dev"`       // no authentication; on loopback only
	AdminKey string `koanf:"admin_key"` // first admin key; empty: generated at first start

	Log           Log           `koanf:"log"`
	Database      Database      `koanf:"database"`
	Vectors       string        `koanf:"vectors"` // auto, or pgvector: beside the record
	Sqlitevec     Sqlitevec     `koanf:"sqlitevec"`
	Pgvector      Pgvector      `koanf:"pgvector"`
	Milvus        Milvus        `koanf:"milvus"`
	Chat          Chat          `koanf:"chat"`
	Embedding     Embedding     `koanf:"embedding"`
	Gate          Gate          `koanf:"gate"`
	Memories      Memories      `koanf:"memories"`
	Jobs          Jobs          `koanf:"jobs"`
	Router        Router        `koanf:"router"`
	Recall        Recall        `koanf:"recall"`
	Projection    Projection    `koanf:"projection"`
	Schedule      Schedule      `koanf:"schedule"`
	Reflection    Reflection    `koanf:"reflection"`
	Forgetting    Forgetting    `koanf:"forgetting"`
	Compression   Compression   `koanf:"compression"`
	Session       Session       `koanf:"session"`
	Consolidation Consolidation `koanf:"consolidation"`
	Facts         Facts         `koanf:"facts"`
	Events        Events        `koanf:"events"`
	Webhooks      Webhooks      `koanf:"webhooks"`
	API           API           `koanf:"api"`
}

// Log says how the server logs.
type Log struct {
	Level  string `koanf:"level"`  // debug, info, warn or error
	Format string `koanf:"format"` // console or json
}

// Database is the record of truth.
type Database struct {
	URL      string `koanf:"url"`       // postgres://...; empty: SQLite in Data
	MaxConns int    `koanf:"max_conns"` // of the Postgres pool
	Migrate  bool   `koanf:"migrate"`   // bring the schema up to date at start
}

// Sqlitevec is the vector store where no other is set.
type Sqlitevec struct {
	CacheBytes int `koanf:"cache_bytes"` // of users' vectors held in memory; 0: none
}

// Pgvector is the vector store where vectors says so.
type Pgvector struct {
	Index   string        `koanf:"index"`   // of a new table: HNSW or FLAT
	Exact   int           `koanf:"exact"`   // memories of a user up to which all are compared
	Timeout time.Duration `koanf:"timeout"` // of one call
}

// Milvus is the vector store where a host is set.
type Milvus struct {
	Host       string        `koanf:"host"` // empty: sqlite-vec in Data
	Port       int           `koanf:"port"`
	Collection string        `koanf:"collection"` // alias over one collection for each embedding space
	Index      string        `koanf:"index"`      // of a new collection: FLAT or HNSW
	Partitions int           `koanf:"partitions"` // of a new collection
	Timeout    time.Duration `koanf:"timeout"`    // of one call
}

// Chat is the language model that scores and routes; without a key rules do.
type Chat struct {
	APIKey          string        `koanf:"api_key"`
	BaseURL         string        `koanf:"base_url"`
	ScorerModel     string        `koanf:"scorer_model"`
	RouterModel     string        `koanf:"router_model"`
	Timeout         time.Duration `koanf:"timeout"` // of one attempt
	Retries         int           `koanf:"retries"` // after the first attempt
	MaxRetryWait    time.Duration `koanf:"max_retry_wait"`
	Concurrency     int           `koanf:"concurrency"` // calls at a time
	BreakerFailures int           `koanf:"breaker_failures"`
	BreakerDelay    time.Duration `koanf:"breaker_delay"`
}

// Embedding is the embedder; without a key the built-in one embeds.
type Embedding struct {
	APIKey         string        `koanf:"api_key"`
	BaseURL        string        `koanf:"base_url"`
	Model          string        `koanf:"model"`
	Dimension      int           `koanf:"dimension"` // 0: probed at start
	QueryPrefix    string        `koanf:"query_prefix"`
	DocumentPrefix string        `koanf:"document_prefix"`
	Timeout        time.Duration `koanf:"timeout"` // of one attempt
	Retries        int           `koanf:"retries"`
	Concurrency    int           `koanf:"concurrency"`
	Batch          int           `koanf:"batch"`       // texts in one call
	CacheBytes     int           `koanf:"cache_bytes"` // of query embeddings kept; 0: none
	Previous       Previous      `koanf:"previous"`
}

// Previous leads to the embedding model that served before, until the memories
// are re-embedded. What is empty is as in Embedding; the model is known.
type Previous struct {
	Model          string `koanf:"model"` // what follows is for this model alone; empty: for whichever serves
	APIKey         string `koanf:"api_key"`
	BaseURL        string `koanf:"base_url"`
	QueryPrefix    string `koanf:"query_prefix"`
	DocumentPrefix string `koanf:"document_prefix"`
}

// Gate decides which candidate facts become memories, and what is done when
// the scorer fails.
type Gate struct {
	Threshold       float64       `koanf:"threshold"`        // least importance, 0..1
	EchoWindow      time.Duration `koanf:"echo_window"`      // how long a recalled memory can be echoed; 0s: off
	MergeSimilarity float64       `koanf:"merge_similarity"` // least cosine at which two memories are one
	JudgeSimilarity float64       `koanf:"judge_similarity"` // least cosine at which the model judges what a new memory means for another
	JudgeTimeout    time.Duration `koanf:"judge_timeout"`    // of all judgements of a turn
	Attempts        int           `koanf:"attempts"`         // bad answers before a turn fails
	RetryDelay      time.Duration `koanf:"retry_delay"`      // before the second attempt; doubles
	RetryLimit      time.Duration `koanf:"retry_limit"`      // bound of the doubling
	GiveUp          time.Duration `koanf:"give_up"`          // age at which a turn whose model is away fails
}

// Memories bounds what is remembered.
type Memories struct {
	MaxPerUser    int     `koanf:"max_per_user"`   // active ones; 0: any number
	MinImportance float64 `koanf:"min_importance"` // of a direct write, 0..1
}

// Jobs is the durable work.
type Jobs struct {
	Workers     int           `koanf:"workers"`
	Poll        time.Duration `koanf:"poll"`
	Lease       time.Duration `koanf:"lease"` // how long a silent worker keeps a turn
	Renew       time.Duration `koanf:"renew"`
	Timeout     time.Duration `koanf:"timeout"`      // of one job
	ResumeAfter time.Duration `koanf:"resume_after"` // age at which an accepted turn is queued anew
}

// Router decides which domains a query searches.
type Router struct {
	Timeout    time.Duration `koanf:"timeout"`     // after which all domains are searched
	CacheBytes int           `koanf:"cache_bytes"` // of routes kept; 0: none
	CacheTTL   time.Duration `koanf:"cache_ttl"`
}

// Recall finds and ranks.
type Recall struct {
	Limit         int           `koanf:"limit"`       // memories in an answer that names no limit
	Candidates    int           `koanf:"candidates"`  // taken from each source
	Mode          string        `koanf:"mode"`        // modulated or additive
	Relevance     float64       `koanf:"relevance"`   // weight alpha
	Decay         float64       `koanf:"decay"`       // weight beta
	Importance    float64       `koanf:"importance"`  // weight gamma
	DecayRate     float64       `koanf:"decay_rate"`  // freshness kept per hour, (0, 1]
	Neighbour     float64       `koanf:"neighbour"`   // share of a neighbour's lead that lifts relevance, 0..1
	SecondNext    float64       `koanf:"second_next"` // the same of neighbours at distance two
	Speaker       float64       `koanf:"speaker"`     // lift of a "Name: text" whose name the query has
	Date          float64       `koanf:"date"`        // lift of a memory of the day or month that the query names
	When          float64       `koanf:"when"`        // lift of a memory that tells a time, where the query asks when
	Question      float64       `koanf:"question"`    // share that a memory loses where all its text asks
	BM25K1        float64       `koanf:"bm25_k1"`
	BM25B         float64       `koanf:"bm25_b"`
	LexicalFloor  float64       `koanf:"lexical_floor"`  // share of a query's words, by rarity, that a full lexical match has at least
	Words         float64       `koanf:"words"`          // share of words in relevance, 0..1; the rest is meaning
	Contrast      float64       `koanf:"contrast"`       // power of relevance; 1: none
	CacheBytes    int           `koanf:"cache_bytes"`    // of what is known of users; 0: none
	OwnWindow     time.Duration `koanf:"own_window"`     // confirmed writes this young still come from the database
	OwnLimit      int           `koanf:"own_limit"`      // of those writes
	CompareLimit  int           `koanf:"compare_limit"`  // so many memories are compared in the database though Milvus is there; 0: none
	FallbackLimit int           `koanf:"fallback_limit"` // memories compared in the database while the vector store is away
	TouchInterval time.Duration `koanf:"touch_interval"`
	VectorTimeout time.Duration `koanf:"vector_timeout"`
	EmbedTimeout  time.Duration `koanf:"embed_timeout"`
}

// Projection carries memories from the database to the vector store.
type Projection struct {
	Interval     time.Duration `koanf:"interval"` // between looks at the outbox
	Batch        int           `koanf:"batch"`
	Lease        time.Duration `koanf:"lease"`   // how long a claimed row waits for its pusher
	Backoff      time.Duration `koanf:"backoff"` // after the first failed push; doubles
	BackoffLimit time.Duration `koanf:"backoff_limit"`
	Grace        time.Duration `koanf:"grace"` // for which a verification leaves out a row that was changed or pushed
}

// Schedule says when upkeep is done: cron expressions in UTC; empty: never.
type Schedule struct {
	Reflection    string        `koanf:"reflection"`
	Consolidation string        `koanf:"consolidation"`
	Idle          string        `koanf:"idle"`
	Facts         string        `koanf:"facts"`
	Forgetting    string        `koanf:"forgetting"`
	Purge         string        `koanf:"purge"`
	Compression   string        `koanf:"compression"`
	Verification  string        `koanf:"verification"`
	Events        string        `koanf:"events"`
	Timeout       time.Duration `koanf:"timeout"` // of one run over all users
}

// Reflection decides when a user's new facts are condensed.
type Reflection struct {
	Importance  float64       `koanf:"importance"`   // sum over the new facts at which it is due
	Cooldown    time.Duration `koanf:"cooldown"`     // least time between two reflections of a user
	MinFacts    int           `koanf:"min_facts"`    // new facts at which it is due
	MaxFacts    int           `koanf:"max_facts"`    // facts in one prompt, the latest changed first
	KeepSources bool          `koanf:"keep_sources"` // facts that were condensed stay active
}

// Forgetting decides which memories fade.
type Forgetting struct {
	Policy     string        `koanf:"policy"`      // strengthening or exponential
	Threshold  float64       `koanf:"threshold"`   // retention under which a memory is forgotten, 0..1
	Base       float64       `koanf:"base"`        // strengthening: retention left after a day without access
	Growth     float64       `koanf:"growth"`      // strengthening: how much longer each access makes a memory last
	Lambda     float64       `koanf:"lambda"`      // exponential: decay a day
	MinAge     time.Duration `koanf:"min_age"`     // exponential: younger memories stay
	MaxShare   float64       `koanf:"max_share"`   // of a user's memories that one run may forget, 0..1
	PurgeAfter time.Duration `koanf:"purge_after"` // how long a forgotten memory can be restored
}

// Compression decides what is said in less room.
type Compression struct {
	ContextMemories int           `koanf:"context_memories"` // a context of more is condensed though it fits
	ContextTimeout  time.Duration `koanf:"context_timeout"`  // after which a context holds whole memories
	ContextCache    int           `koanf:"context_cache"`    // condensed texts kept; 0: none
	Similarity      float64       `koanf:"similarity"`       // least cosine of related old memories
	MinAge          time.Duration `koanf:"min_age"`          // younger memories are left alone
	Accesses        int           `koanf:"accesses"`         // memories recalled so often are left alone
	MaxMemories     int           `koanf:"max_memories"`     // looked at in one run of a user, the oldest first
}

// Session is the working memory of conversations.
type Session struct {
	Events     int           `koanf:"events"`      // most of them
	Tokens     int           `koanf:"tokens"`      // of their contents together
	Age        time.Duration `koanf:"age"`         // after which events of an importance under 0.5 are left out
	Summary    int           `koanf:"summary"`     // characters of the running summary
	CacheBytes int           `koanf:"cache_bytes"` // of the conversations held; 0: none
}

// Consolidation decides what of conversations lasts.
type Consolidation struct {
	Importance float64       `koanf:"importance"` // of a stated event, from which it passes the gate, 0..1
	Urgent     float64       `koanf:"urgent"`     // of a stated event, from which that is at once, 0..1
	Full       float64       `koanf:"full"`       // fill of the working memory at which it is
	Idle       time.Duration `koanf:"idle"`       // without a turn, after which a conversation ends
	Messages   int           `koanf:"messages"`   // since the last one, at which an end has a replay and a reflection
	Similarity float64       `koanf:"similarity"` // least cosine at which what a reflection made is one with a memory
	Attempts   int           `koanf:"attempts"`   // bad answers before a consolidation is left as failed
}

// Facts decides which evidence is believed.
type Facts struct {
	Trust float64 `koanf:"trust"` // confidence from which newer evidence replaces any value, 0..1
}

// Events is what is told to the world outside.
type Events struct {
	Keep      time.Duration `koanf:"keep"`      // age at which an event is deleted
	Poll      time.Duration `koanf:"poll"`      // between two looks for new ones
	Streams   int           `koanf:"streams"`   // that a key may have open in this process
	Heartbeat time.Duration `koanf:"heartbeat"` // between signs of life in a stream
}

// Webhooks are events that are sent.
type Webhooks struct {
	Timeout      time.Duration `koanf:"timeout"`       // of one delivery
	DisableAfter time.Duration `koanf:"disable_after"` // of failing, after which a webhook is switched off
	AllowPrivate bool          `koanf:"allow_private"` // they may lead to loopback and private addresses
}

// API bounds what clients may ask.
type API struct {
	BodyLimit       int64         `koanf:"body_limit"`  // bytes
	BatchLimit      int64         `koanf:"batch_limit"` // bytes of a batch
	RateLimit       float64       `koanf:"rate_limit"`  // requests a second for each key; 0: unlimited
	RateBurst       int           `koanf:"rate_burst"`
	WaitTimeout     time.Duration `koanf:"wait_timeout"` // of a turn sent with wait
	KeyCache        time.Duration `koanf:"key_cache"`    // after which a revoked key is refused everywhere
	ShutdownTimeout time.Duration `koanf:"shutdown_timeout"`
}
