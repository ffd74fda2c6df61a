repo press
E ./press proof --issue 12 | proof: 3 pages checked / colour profile 'newsprint' is not installed / proof failed after 9 s | colormgr import profiles/newsprint.icc
? get the proof of issue 12 out
> the proof stops with colour profile 'newsprint' is not installed
> ./press proof complains about the newsprint colour profile again
> why does proofing say profile not installed?
E python3 tools/typeset.py spring | loading fonts / KeyError: 'ligature_table' / typesetting aborted | ./tools/rebuild-ligatures.sh
? typeset the spring number please
> typeset.py dies with KeyError: 'ligature_table'
> typesetting aborts, something about ligature_table
> KeyError ligature_table came up on my machine as well
E make plates | plates: reading layout / plate server at 10.0.4.2 refused the handshake / make: *** [plates] Error 7 | sudo systemctl restart plate-bridge
? send the plates to the machine
> make plates: plate server at 10.0.4.2 refused the handshake
> the plate server refuses the handshake, can you look
> handshake refused while making plates
E go run ./cmd/index | reading archive / index: checksum mismatch in segment 14 / exit status 3 | ./press archive --repair && ./press archive --verify
? build the archive index
> index says checksum mismatch in segment 14
> checksum mismatch while indexing the archive
> go run ./cmd/index stops at a checksum mismatch
E npm run preview | starting preview / Error: listen EADDRINUSE: address already in use 0.0.0.0:4173 / preview stopped | ./press preview --stop-all
? start the preview for me
> preview: listen EADDRINUSE address already in use 4173
> port 4173 is in use when I start the preview
> EADDRINUSE again for the preview server
R add a sample article about the harbour | sample articles carry invented bylines, a real author must not be in there | Invented bylines in sample articles! They come from bylines.txt.
> write two sample articles for the sports section
> make a sample article with a long byline
> the demo needs another article with three authors
R write the caption for the bridge photo | Captions end without a full stop. | no full stop at the end of captions, how often do I have to say it
> write captions for the new flood photos
> shorten the caption of the mayor's photo
> add captions to the gallery of the fair
R put the print run into the imprint | print runs are counted in hundreds everywhere but on the invoice | in the layout print runs are hundreds, only the invoice has the exact number
> show the print run on the dashboard
> add the print run to the weekly report
> sort issues by print run
R publish the correction on the site | publishing belongs to the night job, leave it alone | you don't publish anything, that is what the night job does
> publish the new weather page
> can you publish the fixed horoscope
> get the obituary page published today
R document how advertisers book | guides for advertisers go into handbook/ads | the wiki is closed, guides for advertisers are in handbook/ads now
> write a guide for advertisers about banner sizes
> extend the advertisers' guide with the new prices
> where should the guide on classified ads go?
C render the weekend supplement | build the supplement for the weekend | source env/bin/activate && ./press render --supplement weekend --draft
> please render the weekend supplement once more
> I need the supplement rendered
> can you build the weekend supplement
C make the contact sheet of the photos | contact sheet with all the photos from today | ./tools/sheet --columns 6 photos/today
> do a contact sheet of today's photos
> print the contact sheet please
> new photos came in, make the sheet
C check the links in the archive | run the link check over the archive | python3 tools/links.py --archive --timeout 5
> are all archive links alive? run the check
> check the archive links again
> do the link check
C load the subscriber list into the test system | import the subscribers for testing | ./press subscribers load --anonymous fixtures/subs.csv | press-import: command not found | press-import subs.csv
> import the subscriber list into the test system again
> load test subscribers
> fill the test system with subscribers
N Rename the weather widget and its stylesheet
N Explain how a page gets its section colour
N Make the masthead a bit larger on phones
N Why does the crossword flicker while it loads?
N Move the puzzle settings into their own file
N Sort the letters to the editor by town
N Translate the empty basket text into Danish
N Remove the old avatar pictures
N Say what the webhook signature is good for
N give the admin table sticky heads
N where is the time zone of an event decided?
N add a unit test for the postcode parser
N the crossword solution shows one row too many
N merge the two helpers that format names
N what would break if we dropped the legacy feed?
N show opening hours of the branch offices in the footer
T hm, the second column looks odd to me
T ok thanks, go on
T no, I meant the other table
T that took a while
T can you show me the diff first?
T it never looked right on my tablet anyway
T I will be away for an hour
T perfect
