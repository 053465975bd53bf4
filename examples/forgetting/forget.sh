#!/usr/bin/env bash
# Forgets the memories of every user that have faded, unless too many have faded at once. For cron, in place of the
# server's own schedule (schedule.forgetting: ""):
#
#   15 3 * * *  HIPPOCAMPUS_KEY=... /opt/hippocampus/forget.sh --max-share 0.2
#
# Each user: preview -> share of the active memories that have faded -> run, or a line for a person
#
# Needs curl, jq and a key of role write. Exits with 1 if a user was left out or a request failed. Forgotten memories
# can be restored until the server purges them (forgetting.purge_after).
set -euo pipefail

url=${HIPPOCAMPUS_URL:-http://127.0.0.1:8080}
key=${HIPPOCAMPUS_KEY:?"set it to an API key of role write"}
max_share=0.2 dry_run=''

while (($#)); do
    case $1 in
    --max-share) max_share=$2; shift 2 ;;
    --dry-run) dry_run=yes; shift ;;
    *) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2 ;;
    esac
done

# call METHOD PATH [JSON]: repeats requests that the server refuses for a while, as Retry-After asks.
call() {
    curl --silent --show-error --fail-with-body --max-time 120 --retry 5 --request "$1" "$url$2" \
        --header "Authorization: Bearer $key" ${3:+--header 'Content-Type: application/json' --data "$3"}
}

# users: prints the ids of the users as JSON texts, one a line.
users() {
    local page cursor=''
    while :; do
        page=$(call GET "/v1/users?limit=500${cursor:+&cursor=$cursor}")
        jq --compact-output '.users[].user_id' <<<"$page"
        cursor=$(jq --raw-output '.next_cursor // empty' <<<"$page")
        [[ -n $cursor ]] || return 0
    done
}

left_out=0
forget() {
    local user=$1 preview due active
    preview=$(call POST /v1/forget "{\"user_id\": $user, \"limit\": 1}")
    read -r due active < <(jq --raw-output '"\(.due) \(.active)"' <<<"$preview")
    ((due > 0)) || return 0
    if jq --exit-status --argjson max "$max_share" '.due > $max * .active' <<<"$preview" >/dev/null; then
        echo "$user: $due of $active memories have faded, more than the share $max_share: look at them first" >&2
        left_out=1
    elif [[ -n $dry_run ]]; then
        echo "$user: $due of $active memories would be forgotten"
    else
        call POST /v1/forget "{\"user_id\": $user, \"dry_run\": false, \"whole\": true, \"limit\": 1}" |
            jq --raw-output --argjson user "$user" '"\($user | tojson): \(.forgotten | length) memories are forgotten"'
    fi
}

list=$(users)
while IFS= read -r user; do
    [[ -z $user ]] || forget "$user" || left_out=1
done <<<"$list"
exit "$left_out"
