repo depot
E pod install --project-directory=ios | Analyzing dependencies / [!] CDN: trunk URL couldn't be downloaded: cdn.cocoapods.org/all_pods.txt Response: 403 / aborted | bundle exec pod repo remove trunk
? install the pods for the scanner app
> pod install stops: CDN: trunk URL couldn't be downloaded
> the pods can't be downloaded from the CDN, response 403
> getting a 403 from cdn.cocoapods.org
E ./gradlew :labels:assemble | Task :labels:merge FAILED / Execution failed: Could not resolve com.zebra:linkos:3.1 / BUILD FAILED in 9s | ./gradlew :vendor:publishToMavenLocal
? assemble the labels module
> Could not resolve com.zebra:linkos when assembling labels
> gradle says it could not resolve linkos 3.1
> the labels module does not assemble on the new runner, linkos is missing
E terraform plan -out depot.plan | Acquiring state lock / Error: Error acquiring the state lock: ConditionalCheckFailedException / plan not saved | ./infra/unlock.sh depot-state
? plan the new queue
> terraform can't get the state lock
> Error acquiring the state lock: ConditionalCheckFailedException
> state lock of terraform is stuck again
E dotnet ef database update | Build succeeded / Npgsql.PostgresException: 42501: permission denied for schema yard / update rolled back | psql -f db/grants.sql
? bring the database up to date
> 42501: permission denied for schema yard
> dotnet ef update rolls back, permission denied
> the migration has no rights on the schema yard
R open a pull request for the gate fix | every change that a customer can notice gets a line in CHANGES.md, under Unreleased | user visible changes need their line in CHANGES.md
> write the pull request for the dark loading screen, customers asked for it
> finish the change of the loading order that customers see
> prepare the release of the gate change
R clean up the parcels endpoint | parcel ids are immutable by design, there will be no endpoint that changes one | once more: a parcel id never changes, no matter what the ticket says
> let the support desk edit parcel ids
> add an endpoint to correct a wrong parcel id
> the ticket wants to change ids of parcels
R bump the map library | lockfiles are never deleted or edited by hand, the bot renews them | hands off the lockfiles, the bot does that
> resolve the conflict in the lockfile
> npm complains about the lockfile, sort it out
> the lockfiles of web and api differ
R test the tariff lookup | Tests have to run without network. Carrier answers are recorded in test/cassettes | no test may go online, play the answers from test/cassettes
> write a test for the new carrier
> test what happens when a carrier is slow
> the tests of the tariff lookup need the sandbox of the carrier
R commit the fix of the scale | commit messages carry no trailer: no Co-Authored-By, no Generated-with | there is a Co-Authored-By in the commit again. We don't want any trailer in commit messages
> commit this
> commit the rounding change with a good message
> squash these and write the commit message
R speed up the yard view | anything in vendor/ is a copy of upstream and must stay as it is. Patches go to patches/ | the vendor folder is not ours, patch it in patches/
> fix the crash inside vendor/leafwrap
> the date parser in vendor is wrong for leap years
> patch the vendor copy of the barcode reader
C make the labels of a day | labels of 12 March please | python3 -m depot.labels --day 2026-03-12 --out build/labels
> I need the labels of 4 April
> labels for today
> print me the day's labels
C replay a shift in the simulator | replay the night shift in the simulator | ./sim/replay --shift night --speed 20
> simulate the night shift again
> can you replay the last night shift?
> run the shift replay
C refresh the address book | refresh the address book from the carriers | node scripts/addresses.mjs pull | Error: Cannot find module './addresses.mjs' | deno task addresses:pull
> address book is stale, refresh it
> pull the addresses of the carriers
> get the address book up to date
C check links in the manual | are the links of the manual fine? | lychee --offline manual/
> check the manual for dead links
> links of the manual again
> dead link check over the manual
N rename the dock model to bay
N why is the weight shown in pounds?
N add paging to the list of trucks
N explain how a route is scored
N make the sidebar narrower
N the driver filter forgets its choice
N sort trucks by arrival
N turn the status enum into a table
N add a tooltip to the delay column
N use the same spinner on each page
N show the seal number of a container
N what does the retry in poller do?
N move the export button to the menu
N split the dispatcher class
N the clock of the yard board is off by one hour
N write docs for the webhook of arrivals
T ok
T hm that is not it
T go on
T better. now the other half
T I'm on the train, answer later is fine
T what did you change?
T great, thanks
T it looks odd on my phone
