repo porto
E ./capitania mares | a ler estações / tabela de marés 'leixoes-26' expirada / parado | ./capitania tabelas renovar leixoes-26
? calcula as marés da semana
> marés: tabela de marés 'leixoes-26' expirada
> a tabela leixoes-26 está expirada outra vez
> as marés param com tabela expirada
E yarn cartes:tuiles | lecture des cartes / Error: ENOSPC: System limit for number of file watchers reached / arrêt | sudo sysctl fs.inotify.max_user_watches=524288
? génère les tuiles des cartes
> cartes:tuiles: ENOSPC System limit for number of file watchers reached
> limite de file watchers atteinte pour les tuiles
> ENOSPC sur les tuiles
E python3 kran.py --plan | lade Kräne / RuntimeError: Kran 7 meldet keine Position / Plan verworfen | python3 kran.py --kalibrieren 7
? plane die Kräne für heute
> kran.py: RuntimeError: Kran 7 meldet keine Position
> Kran 7 meldet schon wieder keine Position
> der Plan wird verworfen, Kran 7 ohne Position
R acrescenta o calado | os calados são guardados em centímetros | centímetros nos calados, nunca metros
> acrescenta o calado ao relatório
> mostra os calados dos navios de hoje
> corrige o calado do ferry
R écris le message de retard | les messages aux capitaines sont en anglais, sans abréviations | messages aux capitaines: anglais, pas d'abréviations
> écris le message pour les capitaines
> ajoute un message aux capitaines en cas de vent
> change le message d'arrivée pour les capitaines
R leg ein Testschiff an | Testschiffe heißen nach Vögeln, echte Schiffsnamen kommen nicht vor | echte Schiffsnamen haben in Tests nichts verloren, Testschiffe sind Vögel
> leg noch ein Testschiff an
> für den Fahrplan fehlt ein Testschiff
> benenne das Testschiff im Beispiel
R muestra la hora de llegada | las horas del puerto son locales, nada de UTC en pantalla | en pantalla siempre la hora local del puerto
> muestra la hora de salida en pantalla
> la pantalla de horas necesita otra columna
> pon las horas de los remolcadores en pantalla
R archivia le bolle | le bolle firmate non si toccano, restano in archivio/ | le bolle in archivio/ restano come sono
> sposta le bolle di aprile
> correggi le bolle con l'indirizzo vecchio
> elimina le bolle doppie
C gib mir die Liegeplätze von morgen | Liegeplätze für morgen, bitte | ./capitania plaetze --tag morgen --csv
> ich brauche die Liegeplätze
> Liegeplätze von morgen noch einmal
> druck die Liegeplätze
C fais la sauvegarde du journal | sauvegarde du journal de bord | ./bin/journal sauver --chiffre
> sauvegarde le journal avant la mise à jour
> refais la sauvegarde du journal
> journal: sauvegarde
C publica os avisos | publica os avisos à navegação | ./capitania avisos publicar --canal 16
> publica outra vez os avisos
> preciso de publicar os avisos
> avisos à navegação, publica
N muda a cor do menu
N porque é que o mapa salta ao abrir?
N explique comment on choisit le quai
N renomme le composant d'en-tête
N sortiere die Liste nach Ankunft
N warum steht da zweimal dasselbe Schiff?
N ordena la tabla por bandera
N el filtro se pierde al recargar
N aggiungi un filtro per data
N perché il grafico è vuoto?
N move the legend below the chart
N mach die Schrift im Kopf kleiner
N ajoute un lien vers la météo
N traduz a página vazia
T sim, isso
T non, l'autre tableau
T ok weiter
T gracias, sigue
T va bene
T hm
