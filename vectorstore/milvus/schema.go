package milvus

import (
	"crypto/sha256"
	"fmt"
	"strconv"

	"github.com/milvus-io/milvus-sdk-go/v2/entity"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// The fields of a collection.
const (
	fieldID        = "id"
	fieldEmbedding = "embedding"
	fieldApp       = "app_id"
	fieldUser      = "user_id"
	fieldAgent     = "agent_id"
	fieldDomain    = "domain"
	fieldType      = "memory_type"
	fieldContent   = "content"
	fieldCreated   = "created_at"
)

// propertyModel is the collection property that holds the name of the embedding
// model, since a collection name may hold letters, digits and "_" only.
const propertyModel = "hippocampus.model"

// maxContentBytes is the length of memory.MaxContentRunes of the longest
// characters, since Milvus' max_length counts bytes.
const maxContentBytes = 4 * memory.MaxContentRunes

// newSchema describes a collection to Milvus and to people who inspect it.
func newSchema(name string, space vectorstore.Space) *entity.Schema {
	text := func(name string, maxBytes int64, description string) *entity.Field {
		return entity.NewField().WithName(name).WithDataType(entity.FieldTypeVarChar).
			WithMaxLength(maxBytes).WithDescription(description)
	}
	return entity.NewSchema().WithName(name).
		WithDescription(fmt.Sprintf("Hippocampus memories as vectors of %s, %d numbers. "+
			"A projection of the database: edit memories there.", space.Model, space.Dim)).
		WithField(text(fieldID, vectorstore.MaxIDBytes, "UUIDv7 of the memory, as in the database").WithIsPrimaryKey(true)).
		WithField(entity.NewField().WithName(fieldEmbedding).WithDataType(entity.FieldTypeFloatVector).
			WithDim(int64(space.Dim)).WithDescription("unit vector of the content")).
		WithField(text(fieldApp, memory.MaxIDBytes, "tenant that the API key is bound to")).
		WithField(text(fieldUser, memory.MaxIDBytes, "user whom the memory belongs to").WithIsPartitionKey(true)).
		WithField(text(fieldAgent, memory.MaxIDBytes, "agent that alone sees it; empty: all of the user's agents do")).
		WithField(text(fieldDomain, 64, "intent domain, such as user_preferences")).
		WithField(text(fieldType, 64, "kind of statement, such as fact or reflection")).
		WithField(text(fieldContent, maxContentBytes, "what is remembered")).
		WithField(entity.NewField().WithName(fieldCreated).WithDataType(entity.FieldTypeInt64).
			WithDescription("when it was said, unix milliseconds"))
}

// collectionName is the collection behind an alias for one space, such as
// agent_memories_vectors_text_embedding_v4_1024_9f2c41aa. The hash distinguishes
// models whose names differ only in characters that the slug drops.
func collectionName(alias string, space vectorstore.Space) string {
	sum := sha256.Sum256([]byte(space.Model + "\x00" + strconv.Itoa(space.Dim)))
	return fmt.Sprintf("%s_%s_%d_%x", alias, vectorstore.Slug(space.Model, 32, "", '_'), space.Dim, sum[:4])
}

// aliasOf is the alias by which every process reaches the collection in use of
// one space.
func aliasOf(alias string, space vectorstore.Space) string {
	return collectionName(alias, space) + "_in_use"
}

// spaceOf returns the space that a collection is for; ok is false if Hippocampus
// did not create the collection.
func spaceOf(c *entity.Collection) (space vectorstore.Space, ok bool) {
	model, ok := c.Properties[propertyModel]
	if !ok {
		return space, false
	}
	for _, f := range c.Schema.Fields {
		if f.Name == fieldEmbedding {
			dim, err := strconv.Atoi(f.TypeParams[entity.TypeParamDim])
			return vectorstore.Space{Model: model, Dim: dim}, err == nil
		}
	}
	return space, false
}

// newIndex returns the vector index of a type.
func newIndex(name string) (entity.Index, error) {
	switch name {
	case "FLAT":
		return entity.NewIndexFlat(entity.COSINE)
	case "HNSW":
		return entity.NewIndexHNSW(entity.COSINE, 16, 200)
	}
	return nil, memory.Errorf(memory.KindInvalid, "unknown Milvus index %q: choose FLAT or HNSW", name)
}
